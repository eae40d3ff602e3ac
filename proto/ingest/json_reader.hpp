#pragma once
// A strict JSON reader for headers: the events of one text, in order, without a tree, without recursion and
// without allocating once it is made. RFC 8259: the whole text is one value, strings are valid UTF-8 without
// lone surrogates, numbers have JSON's grammar; a zero byte is refused wherever it stands. A UTF-8 byte order
// mark in front is skipped. What keys mean, and whether one stands twice, is for the receiver of the events.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pixhist {

/// Receives the events. Texts are valid during the call only; escapes are resolved.
class JsonEvents {
 public:
  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  /// `text` as it stands. `whole`: its exact value if it is an integer in [0, 2^64) written without fraction
  /// or exponent; -0 is 0.
  virtual void number(std::string_view text, std::optional<std::uint64_t> whole) = 0;
  virtual void string(std::string_view text) = 0;
  virtual void key(std::string_view name) = 0;
  virtual void begin_object() = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;

 protected:
  ~JsonEvents() = default;
};

/// Not thread-safe; one per decoder. Memory: max_bytes for unescaped texts and a bit for each level.
class JsonReader {
 public:
  explicit JsonReader(std::size_t max_bytes);

  /// False if `text` is not one JSON value, is longer than max_bytes, or holds a number of 10^309 or more;
  /// `fault` then says what and where (printable, at most 180 bytes). The events before it have been sent.
  /// Throws only where filling `fault` does.
  bool read(std::string_view text, JsonEvents& events, std::string& fault);

 private:
  enum class Expect : std::uint8_t { value, first_element, first_key, key, separator };

  bool step(char c);
  bool take_value(char c);
  bool take_word(std::string_view word);
  bool take_number();
  bool take_digits(std::string_view what);
  bool take_string(std::string_view& text);
  bool take_key();
  bool take_escape();
  bool take_hex4(std::uint32_t& value);
  bool take_utf8();
  void open(bool object);
  bool close(char c);
  bool in_object() const;

  void skip_space();
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void keep(std::string_view bytes);
  void keep_code_point(std::uint32_t code);
  bool fail(std::string_view expected);
  bool fail_at(std::size_t at, std::string_view problem);

  std::vector<char> unescaped_;        // max_bytes: a text is never longer than its escaped form
  std::vector<std::uint64_t> levels_;  // one bit a level: set in an object
  // Of the read in progress.
  std::string_view text_;
  JsonEvents* events_ = nullptr;
  std::string* fault_ = nullptr;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t kept_ = 0;  // bytes in unescaped_
  Expect expect_ = Expect::value;
};

}  // namespace pixhist
