#include "proto/ingest/array10_header.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "proto/ingest/numpy_type.hpp"
#include "proto/text.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

constexpr std::size_t shown_bytes = 40;

constexpr std::string_view allowed_values[array10_key_count] = {"a string",
                                                                "[rows, cols], integers or decimal strings",
                                                                "a string with a NumPy type name",
                                                                "an integer in [0, 2^64)",
                                                                "a string or null",
                                                                "a string or null",
                                                                "a string",
                                                                "true or false",
                                                                "an integer in [0, 2^64)"};

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes the events of nlohmann's SAX parser. Member names and signatures are those it calls.
class HeaderEvents {
 public:
  HeaderEvents(Array10Header& header, std::string& fault) : header_(header), fault_(fault) {}

  bool null() {
    const auto key = field();
    // Python senders write None for "no compression".
    if (key && *key != Array10Key::encoding && *key != Array10Key::compression) refuse(*key, "null");
    return true;
  }

  bool boolean(bool value) {
    const auto key = field();
    if (key == Array10Key::end)
      header_.end = value;
    else if (key)
      refuse(*key, value ? "true" : "false");
    return true;
  }

  bool number_integer(json::number_integer_t value) {  // called for numbers with a minus sign only
    if (value == 0) return number_unsigned(0);
    if (const auto key = field()) refuse(*key, std::to_string(value));
    return true;
  }

  bool number_unsigned(json::number_unsigned_t value) {
    const auto key = field();
    if (!key) return true;
    switch (*key) {
      case Array10Key::shape:
        if (in_shape_)
          add_dim(value);
        else
          refuse(*key, std::to_string(value));
        break;
      case Array10Key::frame: header_.frame = value; break;
      case Array10Key::frames: header_.frames = value; break;
      default: refuse(*key, std::to_string(value));
    }
    return true;
  }

  bool number_float(json::number_float_t, const std::string& text) {
    if (const auto key = field()) refuse(*key, text);
    return true;
  }

  bool string(std::string& text) {
    if (const auto key = field()) take_text(*key, text);
    return true;
  }

  bool binary(json::binary_t&) { return false; }  // not in JSON text

  bool start_object(std::size_t) {
    if (depth_ == 0)
      header_.is_object = true;
    else if (const auto key = field())
      refuse(*key, "an object");
    ++depth_;
    return true;
  }

  bool end_object() {
    --depth_;
    return true;
  }

  bool start_array(std::size_t) {
    if (const auto key = field()) {
      if (*key == Array10Key::shape && !in_shape_)
        in_shape_ = true;
      else
        refuse(*key, "an array");
    }
    ++depth_;
    return true;
  }

  bool end_array() {
    --depth_;
    if (depth_ == 1) in_shape_ = false;
    return true;
  }

  bool key(std::string& name) {
    if (depth_ != 1) return true;
    key_.reset();
    for (std::size_t i = 0; i < array10_key_count; ++i) {
      if (array10_key_names[i] != name) continue;
      key_ = static_cast<Array10Key>(i);
      if (header_.present[i]) note(*key_, "stands twice");
      header_.present[i] = true;
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) {
    fault_ = json_fault(error.what());
    return false;
  }

 private:
  /// The key this value belongs to: a value at the top level, or a direct element of `shape`.
  std::optional<Array10Key> field() const {
    if (depth_ == 1 || (depth_ == 2 && in_shape_)) return key_;
    return std::nullopt;
  }

  void take_text(Array10Key key, const std::string& text) {
    switch (key) {
      case Array10Key::htype:
        header_.htype_known = text.starts_with("array-1");
        if (!header_.htype_known) header_.htype = printable(text, shown_bytes);
        break;
      case Array10Key::shape: {
        const auto dim = in_shape_ ? parse_decimal(text) : std::nullopt;
        if (dim)
          add_dim(*dim);
        else
          refuse(key, '"' + printable(text, shown_bytes) + '"');
        break;
      }
      case Array10Key::type:
        header_.type = parse_numpy_name(text);
        if (!header_.type) header_.type_text = printable(text, shown_bytes);
        break;
      case Array10Key::encoding:
      case Array10Key::compression:
        if (!text.empty() && text != "none" && text != "raw" && header_.encoding.empty())
          header_.encoding = printable(text, shown_bytes);
        break;
      case Array10Key::run: header_.run = make_run_key(text); break;
      default: refuse(key, '"' + printable(text, shown_bytes) + '"');
    }
  }

  void add_dim(std::uint64_t value) {
    if (header_.ndim < header_.dims.size()) header_.dims[header_.ndim] = value;
    ++header_.ndim;
  }

  void refuse(Array10Key key, std::string_view given) {
    std::string problem = "must be ";
    problem += allowed_values[static_cast<std::size_t>(key)];
    problem += in_shape_ ? "; it holds " : "; it is ";
    problem += printable(given, shown_bytes);
    note(key, problem);
  }

  void note(Array10Key key, std::string_view problem) {
    auto& fault = header_.fault[static_cast<std::size_t>(key)];
    if (!fault.empty()) return;
    fault = '`';
    fault += name_of(key);
    fault += "` ";
    fault += problem;
  }

  Array10Header& header_;
  std::string& fault_;
  std::size_t depth_ = 0;
  bool in_shape_ = false;
  std::optional<Array10Key> key_;  // at depth 1
};

}  // namespace

bool read_array10_header(std::string_view text, Array10Header& header, std::string& fault) {
  // nlohmann takes a zero byte for the end of the text and would not look at what follows.
  if (text.find('\0') != std::string_view::npos) {
    fault = "it contains a zero byte";
    return false;
  }
  HeaderEvents events(header, fault);
  return json::sax_parse(text.data(), text.data() + text.size(), &events);
}

}  // namespace pixhist
