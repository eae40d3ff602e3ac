#include "proto/ingest/array10_header.hpp"

#include <charconv>

#include "proto/ingest/header_fields.hpp"
#include "proto/ingest/numpy_type.hpp"
#include "proto/text.hpp"

namespace pixhist {
namespace {

constexpr std::size_t shown_text_bytes = 40;

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

class HeaderReader final : public HeaderFields {
 public:
  HeaderReader(Array10Header& header, std::size_t keys)
      : HeaderFields({header.is_object, header.present, header.fault}), header_(header), keys_(keys) {}

 private:
  using Kind = HeaderValue::Kind;

  std::optional<std::size_t> find(std::string_view name) const override {
    for (std::size_t i = 0; i < keys_; ++i) {
      if (array10_key_names[i] == name) return i;
    }
    return std::nullopt;
  }
  std::string_view name(std::size_t key) const override { return array10_key_names[key]; }
  std::string_view allowed(std::size_t key) const override { return allowed_values[key]; }
  bool takes_list(std::size_t key) const override {
    return key == static_cast<std::size_t>(Array10Key::shape);
  }

  void take(std::size_t key, const HeaderValue& value) override {
    if (!taken(static_cast<Array10Key>(key), value)) refuse(key, value);
  }

  bool taken(Array10Key key, const HeaderValue& value) {
    const bool text = value.kind == Kind::string;
    switch (key) {
      case Array10Key::htype: return text && take_htype(value.text);
      case Array10Key::shape:
        return value.in_list && take_dim(text ? parse_decimal(value.text) : value.whole);
      case Array10Key::type: return text && take_type(value.text);
      case Array10Key::frame: return take_whole(value, header_.frame);
      case Array10Key::encoding:
      case Array10Key::compression:
        // Python senders write None for "no compression".
        return value.kind == Kind::null || (text && take_encoding(value.text));
      case Array10Key::run:
        if (text) header_.run = make_run_key(value.text);
        return text;
      case Array10Key::end:
        header_.end = value.kind == Kind::boolean && value.truth;
        return value.kind == Kind::boolean;
      case Array10Key::frames: break;
    }
    return take_whole(value, header_.frames);
  }

  static bool take_whole(const HeaderValue& value, std::uint64_t& field) {
    field = value.whole.value_or(0);
    return value.whole.has_value();
  }

  bool take_htype(std::string_view text) {
    header_.htype_known = text.starts_with("array-1");
    if (!header_.htype_known) header_.htype = printable(text, shown_text_bytes);
    return true;
  }

  bool take_dim(std::optional<std::uint64_t> dim) {
    if (!dim) return false;
    if (header_.ndim < header_.dims.size()) header_.dims[header_.ndim] = *dim;
    ++header_.ndim;
    return true;
  }

  bool take_type(std::string_view text) {
    header_.type = parse_numpy_name(text);
    if (!header_.type) header_.type_text = printable(text, shown_text_bytes);
    return true;
  }

  bool take_encoding(std::string_view text) {
    if (!text.empty() && text != "none" && text != "raw" && header_.encoding.empty())
      header_.encoding = printable(text, shown_text_bytes);
    return true;
  }

  Array10Header& header_;
  const std::size_t keys_;
};

}  // namespace

bool read_array10_header(JsonReader& reader, std::string_view text, std::size_t keys, Array10Header& header,
                         std::string& fault) {
  HeaderReader fields(header, keys);
  return reader.read(text, fields, fault);
}

}  // namespace pixhist
