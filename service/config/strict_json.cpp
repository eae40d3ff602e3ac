#include "service/config/strict_json.hpp"

#include <cstdint>
#include <iterator>

#include "proto/json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t max_depth = 32;

/// Tells the handler, through `position`, how far the parser has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*position_;
    return *this;
  }
  CountingIterator operator++(int) {
    const auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* at_;
  std::size_t* position_;
};

JsonError error_at(std::string_view text, std::size_t position, std::string what, std::string key = {}) {
  const auto before = text.substr(0, position);
  JsonError error{1, 1, std::move(what), std::move(key)};
  for (const char c : before) {
    ++error.column;
    if (c == '\n') {
      ++error.line;
      error.column = 1;
    }
  }
  return error;
}

/// nlohmann's SAX interface: builds the value, as its own DOM parser would, and looks for keys given twice.
class Builder {
 public:
  Builder(std::string_view text, const std::size_t& position, StrictJson& result)
      : text_(text), position_(position), result_(result) {}

  bool null() { return add(nullptr); }
  bool boolean(bool v) { return add(v); }
  bool number_integer(std::int64_t v) { return add(v); }
  bool number_unsigned(std::uint64_t v) { return add(v); }
  bool number_float(double v, const std::string&) { return add(v); }
  bool string(std::string& v) { return add(v); }
  bool binary(Json::binary_t&) { return false; }  // no such thing in JSON text
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    keys_.back() = name;
    if (stack_.back()->contains(name)) {
      std::string path;
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (!path.empty()) path += '.';
        path += stack_[i]->is_array() ? std::to_string(stack_[i]->size() - 1) : keys_[i];
      }
      result_.errors.push_back(error_at(text_, position_ - name.size() - 2, "the key is given twice", path));
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) {
    // The library's text repeats where it is, in its own way: keep what follows.
    std::string what = error.what();
    if (const auto colon = what.find(": "); colon != std::string::npos) what.erase(0, colon + 2);
    if (const auto number = what.find("number overflow"); number != std::string::npos)
      what = "the number " + token + " is too large";
    result_.errors.push_back(error_at(text_, position == 0 ? 0 : position - 1, "not valid JSON: " + what));
    return false;
  }

 private:
  template <class V>
  bool add(V&& value) {
    if (stack_.empty()) {
      result_.value = std::forward<V>(value);
    } else if (stack_.back()->is_array()) {
      stack_.back()->push_back(std::forward<V>(value));
    } else {
      (*stack_.back())[keys_.back()] = std::forward<V>(value);
    }
    return true;
  }

  bool open(Json value) {
    if (stack_.size() == max_depth) {
      result_.errors.push_back(error_at(text_, position_ - 1, "nested deeper than 32 levels"));
      return false;
    }
    Json* parent = stack_.empty() ? nullptr : stack_.back();
    add(std::move(value));
    Json* child = parent == nullptr    ? &result_.value
                  : parent->is_array() ? &parent->back()
                                       : &(*parent)[keys_.back()];
    stack_.push_back(child);
    keys_.emplace_back();
    return true;
  }

  bool close() {
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::size_t& position_;
  StrictJson& result_;
  std::vector<Json*> stack_;  // open objects and arrays; a parent does not grow while a child is open
  std::vector<std::string> keys_;
};

}  // namespace

StrictJson parse_strict_json(std::string_view text) {
  StrictJson result;
  // The parser takes a zero byte for the end of the text and would not look at what follows.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    result.errors.push_back(error_at(text, zero, "not valid JSON: a zero byte"));
    return result;
  }
  std::size_t position = 0;
  Builder builder(text, position, result);
  const char* const begin = text.data();
  result.parsed = Json::sax_parse(CountingIterator(begin, &position),
                                  CountingIterator(begin + text.size(), &position), &builder);
  if (!result.parsed) result.value = nullptr;
  return result;
}

std::string json_text(const nlohmann::ordered_json& value, std::size_t max_bytes) {
  std::string text = dump_json(value);
  if (text.size() > max_bytes) {
    while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0U) == 0x80U) --max_bytes;
    text.resize(max_bytes);  // at the start of a character
    text += "...";
  }
  return text;
}

}  // namespace pixhist
