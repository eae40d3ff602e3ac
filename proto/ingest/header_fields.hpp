#pragma once
// What JSON headers have in common: some keys of the top-level object mean something, every other value is
// skipped at any depth. Routes the values of those keys to a format's own rules and notes what is wrong with
// each key: a value of the wrong kind, or a key that stands twice.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proto/ingest/json_reader.hpp"

namespace pixhist {

/// A value of a known key, or an element of a known key's list.
struct HeaderValue {
  enum class Kind : std::uint8_t { null, boolean, number, string };
  Kind kind = Kind::null;
  bool in_list = false;
  bool truth = false;                    // of a boolean
  std::string_view text{};               // of a number as it stands, or of a string without escapes
  std::optional<std::uint64_t> whole{};  // of a number: exact, if it is an integer in [0, 2^64)
};

/// What a header said of its keys, by the format's own numbering. `fault` is empty where all is well; filling
/// it is the only thing that allocates.
struct HeaderNotes {
  bool& is_object;
  std::span<bool> present;
  std::span<std::string> fault;
};

class HeaderFields : public JsonEvents {
 public:
  void null() final { route({.kind = HeaderValue::Kind::null}); }
  void boolean(bool value) final { route({.kind = HeaderValue::Kind::boolean, .truth = value}); }
  void number(std::string_view text, std::optional<std::uint64_t> whole) final {
    route({.kind = HeaderValue::Kind::number, .text = text, .whole = whole});
  }
  void string(std::string_view text) final { route({.kind = HeaderValue::Kind::string, .text = text}); }
  void key(std::string_view name) final;
  void begin_object() final;
  void end_object() final { --depth_; }
  void begin_array() final;
  void end_array() final;

 protected:
  explicit HeaderFields(const HeaderNotes& notes) : notes_(notes) {}
  ~HeaderFields() = default;

  /// The number of a key that counts, or nothing: its value is skipped.
  virtual std::optional<std::size_t> find(std::string_view name) const = 0;
  virtual std::string_view name(std::size_t key) const = 0;
  /// What the key's value may be, for messages: "an integer in [0, 2^64)".
  virtual std::string_view allowed(std::size_t key) const = 0;
  /// The key's value may be a list, whose elements are then taken one by one.
  virtual bool takes_list(std::size_t key) const = 0;
  virtual void take(std::size_t key, const HeaderValue& value) = 0;

  /// Notes that `value` is not allowed; of a key only the first fault is kept.
  void refuse(std::size_t key, const HeaderValue& value);

 private:
  std::optional<std::size_t> field() const;
  void route(HeaderValue value);
  void refuse_given(std::size_t key, std::string_view given);
  void note(std::size_t key, std::string_view problem);

  const HeaderNotes notes_;
  std::size_t depth_ = 0;
  bool in_list_ = false;
  std::optional<std::size_t> key_;  // at depth 1
};

}  // namespace pixhist
