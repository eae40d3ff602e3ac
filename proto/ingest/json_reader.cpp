#include "proto/ingest/json_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "proto/text.hpp"

namespace pixhist {
namespace {

constexpr std::size_t max_fault_bytes = 180;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of the well-formed UTF-8 sequence at the begin of `text` (Unicode, table 3-7); 0: there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead >= 0xC2 && lead <= 0xDF) return in(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;   // shorter forms exist below
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;  // surrogates lie above
    return in(1, low, high) && in(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;  // beyond U+10FFFF
    return in(1, low, high) && in(2, 0x80, 0xBF) && in(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

/// Whether a number in JSON's grammar is 10^309 or more in size, where no double holds it.
bool beyond_double(std::string_view number) {
  const auto e = std::min(number.find_first_of("eE"), number.size());
  const auto point = std::min(number.substr(0, e).find('.'), e);
  const auto first = number.substr(0, e).find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  constexpr std::int64_t huge = std::int64_t{1} << 40;  // outweighs the digits of any text
  std::int64_t exponent = 0;
  if (e < number.size()) {
    auto digits = number.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec;
    if (error != std::errc{}) exponent = digits.starts_with('-') ? -huge : huge;
    exponent = std::clamp(exponent, -huge, huge);
  }
  const auto lead =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) - (first < point ? 1 : 0);
  return lead + exponent > 308;
}

}  // namespace

JsonReader::JsonReader(std::size_t max_bytes) : unescaped_(max_bytes), levels_(max_bytes / 64 + 1) {}

bool JsonReader::read(std::string_view text, JsonEvents& events, std::string& fault) {
  text_ = text;
  events_ = &events;
  fault_ = &fault;
  at_ = 0;
  depth_ = 0;
  expect_ = Expect::value;
  if (text.size() > unescaped_.size()) return fail_at(unescaped_.size(), "the text is too long");
  const auto zero = text.find('\0');
  if (zero != std::string_view::npos) return fail_at(zero, "a zero byte");
  if (text.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  do {
    skip_space();
    if (!step(peek())) return false;
  } while (depth_ > 0);
  skip_space();
  return at_ == text.size() || fail("the end of the text");
}

/// One token and what belongs to it; `c` is its first byte, zero at the end of the text.
bool JsonReader::step(char c) {
  switch (expect_) {
    case Expect::first_element:
      if (c == ']') return close(c);
      [[fallthrough]];
    case Expect::value: return take_value(c);
    case Expect::first_key:
      if (c == '}') return close(c);
      [[fallthrough]];
    case Expect::key: return take_key();
    case Expect::separator: break;
  }
  if (c != ',') return close(c);
  ++at_;
  expect_ = in_object() ? Expect::key : Expect::value;
  return true;
}

bool JsonReader::take_value(char c) {
  expect_ = Expect::separator;  // unless a container begins
  switch (c) {
    case '{': open(true); return true;
    case '[': open(false); return true;
    case '"': {
      std::string_view text;
      if (!take_string(text)) return false;
      events_->string(text);
      return true;
    }
    case 'n':
      if (!take_word("null")) return false;
      events_->null();
      return true;
    case 't':
    case 'f':
      if (!take_word(c == 't' ? "true" : "false")) return false;
      events_->boolean(c == 't');
      return true;
    default: return take_number();
  }
}

bool JsonReader::take_word(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return fail(word);
  at_ += word.size();
  return true;
}

bool JsonReader::take_number() {
  const std::size_t begin = at_;
  const bool negative = peek() == '-';
  if (negative) ++at_;
  if (!is_digit(peek())) return fail(negative ? "a digit" : "a value");
  if (peek() == '0')
    ++at_;
  else if (!take_digits("a digit"))
    return false;
  const std::size_t whole_end = at_;
  if (peek() == '.') {
    ++at_;
    if (!take_digits("a digit behind the point")) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!take_digits("a digit of the exponent")) return false;
  }
  const auto number = text_.substr(begin, at_ - begin);
  if (beyond_double(number)) {
    constexpr std::size_t shown = 24;
    return fail_at(begin, "beyond every double: " + printable(number, shown));
  }
  std::optional<std::uint64_t> whole;
  if (at_ == whole_end) {
    const char* const end = number.data() + number.size();
    std::uint64_t value = 0;
    const auto error = std::from_chars(number.data() + (negative ? 1 : 0), end, value).ec;
    if (error == std::errc{} && (!negative || value == 0)) whole = value;
  }
  events_->number(number, whole);
  return true;
}

bool JsonReader::take_digits(std::string_view what) {
  if (!is_digit(peek())) return fail(what);
  while (is_digit(peek())) ++at_;
  return true;
}

/// At the opening quote. A text without escapes is the bytes as they stand; else it is built in unescaped_.
bool JsonReader::take_string(std::string_view& text) {
  const std::size_t begin = ++at_;
  std::size_t copied = begin;  // what lies before is in unescaped_
  bool escaped = false;
  kept_ = 0;
  while (peek() != '"') {
    const auto byte = static_cast<unsigned char>(peek());
    if (at_ == text_.size()) return fail("a closing \"");
    if (byte < 0x20) return fail("an escape for this control character");
    if (byte == '\\') {
      keep(text_.substr(copied, at_ - copied));
      if (!take_escape()) return false;
      copied = at_;
      escaped = true;
    } else if (byte < 0x80) {
      ++at_;
    } else if (!take_utf8()) {
      return false;
    }
  }
  text = text_.substr(begin, at_ - begin);
  if (escaped) {
    keep(text_.substr(copied, at_ - copied));
    text = {unescaped_.data(), kept_};
  }
  ++at_;
  return true;
}

bool JsonReader::take_key() {
  if (peek() != '"') return fail("a key in \"\"");
  std::string_view name;
  if (!take_string(name)) return false;
  events_->key(name);
  skip_space();
  if (peek() != ':') return fail("a colon behind the key");
  ++at_;
  expect_ = Expect::value;
  return true;
}

bool JsonReader::take_escape() {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
  ++at_;
  const auto letter = letters.find(peek());
  if (letter != std::string_view::npos) {
    ++at_;
    keep(meant.substr(letter, 1));
    return true;
  }
  if (peek() != 'u') return fail("one of \"\\/bfnrtu behind the \\");
  const std::size_t begin = at_ - 1;
  std::uint32_t code = 0;
  if (!take_hex4(code)) return false;
  if (code >= 0xD800 && code <= 0xDFFF) {
    std::uint32_t low = 0;
    const bool high_first = code <= 0xDBFF && peek() == '\\';
    if (high_first) ++at_;
    if (!high_first || peek() != 'u') return fail_at(begin, "half of a surrogate pair");
    if (!take_hex4(low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail_at(begin, "half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  keep_code_point(code);
  return true;
}

/// At the u.
bool JsonReader::take_hex4(std::uint32_t& value) {
  ++at_;
  const auto digits = text_.substr(at_, 4);
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  if (digits.size() != 4 || end != digits.data() + 4) return fail("4 hexadecimal digits");
  at_ += 4;
  return true;
}

bool JsonReader::take_utf8() {
  const std::size_t length = utf8_length(text_.substr(at_));
  at_ += length;
  return length > 0 || fail("valid UTF-8");
}

void JsonReader::keep(std::string_view bytes) {
  kept_ = static_cast<std::size_t>(std::copy(bytes.begin(), bytes.end(), unescaped_.data() + kept_) -
                                   unescaped_.data());
}

void JsonReader::keep_code_point(std::uint32_t code) {
  std::array<char, 4> bytes{};
  std::size_t n = 0;
  const auto put = [&](std::uint32_t byte) { bytes[n++] = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else {
    if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xE0 | code >> 12);
      } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
      }
      put(0x80 | (code >> 6 & 0x3F));
    }
    put(0x80 | (code & 0x3F));
  }
  keep({bytes.data(), n});
}

void JsonReader::open(bool object) {
  ++at_;
  const std::uint64_t bit = std::uint64_t{1} << depth_ % 64;
  auto& word = levels_[depth_ / 64];  // a level takes a byte of the text at least
  word = object ? word | bit : word & ~bit;
  ++depth_;
  expect_ = object ? Expect::first_key : Expect::first_element;
  if (object)
    events_->begin_object();
  else
    events_->begin_array();
}

bool JsonReader::close(char c) {
  const bool object = in_object();
  if (c != (object ? '}' : ']')) return fail(object ? "a comma or }" : "a comma or ]");
  ++at_;
  --depth_;
  expect_ = Expect::separator;
  if (object)
    events_->end_object();
  else
    events_->end_array();
  return true;
}

bool JsonReader::in_object() const { return (levels_[(depth_ - 1) / 64] >> (depth_ - 1) % 64 & 1) != 0; }

void JsonReader::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

bool JsonReader::fail(std::string_view expected) {
  constexpr std::size_t shown = 12;
  std::string problem = "expected " + std::string(expected) + ", found ";
  if (at_ >= text_.size())
    problem += "the end of the text";
  else
    problem += printable(text_.substr(at_), shown);
  return fail_at(at_, problem);
}

bool JsonReader::fail_at(std::size_t at, std::string_view problem) {
  const auto before = text_.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const auto last = before.rfind('\n');
  const auto column = last == std::string_view::npos ? at : at - last - 1;
  *fault_ = printable("line " + std::to_string(lines + 1) + ", column " + std::to_string(column + 1) + ": " +
                          std::string(problem),
                      max_fault_bytes);
  return false;
}

}  // namespace pixhist
