#include "proto/ingest/sls_header.hpp"

#include <limits>
#include <optional>

#include "proto/ingest/header_fields.hpp"
#include "proto/text.hpp"

namespace pixhist {
namespace {

constexpr std::uint64_t any64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t any32 = std::numeric_limits<std::uint32_t>::max();

struct KeyRule {
  std::uint64_t max;  // of an integer
  std::string_view allowed;
};

/// In the order of SlsKey; ranges are those of the receiver's own types.
constexpr KeyRule rules[sls_key_count] = {{any32, "an integer in [0, 2^32)"},
                                          {any32, "an integer in [0, 2^32)"},
                                          {any64, "an integer in [0, 2^64)"},
                                          {any64, "[columns, rows], integers in [0, 2^64)"},
                                          {any64, "an integer in [0, 2^64)"},
                                          {any64, "an integer in [0, 2^64)"},
                                          {0, "a string"},
                                          {1, "0 or 1"},
                                          {1, "0 or 1"},
                                          {any64, "an integer in [0, 2^64)"},
                                          {0xFFFF, "an integer in [0, 65535]"},
                                          {0xFFFF, "an integer in [0, 65535]"},
                                          {0xFF, "an integer in [0, 255]"},
                                          {1, "0 or 1"},
                                          {any64, "[columns, rows], integers in [0, 2^64)"},
                                          {0, "a string"}};

class HeaderReader final : public HeaderFields {
 public:
  explicit HeaderReader(SlsHeader& header)
      : HeaderFields({header.is_object, header.present, header.fault}), header_(header) {}

 private:
  std::optional<std::size_t> find(std::string_view name) const override {
    if (name == sls_old_flip_rows) return static_cast<std::size_t>(SlsKey::flip_rows);
    for (std::size_t i = 0; i < sls_key_count; ++i) {
      if (sls_key_names[i] == name) return i;
    }
    return std::nullopt;
  }
  std::string_view name(std::size_t key) const override { return sls_key_names[key]; }
  std::string_view allowed(std::size_t key) const override { return rules[key].allowed; }
  bool takes_list(std::size_t key) const override {
    return key == static_cast<std::size_t>(SlsKey::shape) ||
           key == static_cast<std::size_t>(SlsKey::detshape);
  }

  void take(std::size_t key, const HeaderValue& value) override {
    if (!taken(static_cast<SlsKey>(key), value)) refuse(key, value);
  }

  bool taken(SlsKey key, const HeaderValue& value) {
    const bool text = value.kind == HeaderValue::Kind::string;
    if (key == SlsKey::fname) {
      if (text) header_.fname.add(value.text);
      return text;
    }
    if (key == SlsKey::htype) {
      constexpr std::size_t shown_bytes = 40;
      if (text) header_.htype = printable(value.text, shown_bytes);
      return text;
    }
    if (!value.whole || *value.whole > rules[static_cast<std::size_t>(key)].max) return false;
    if (key == SlsKey::shape) return value.in_list && take_extent(*value.whole, header_.shape);
    if (key == SlsKey::detshape) return value.in_list && take_extent(*value.whole, header_.detshape);
    header_.numbers[static_cast<std::size_t>(key)] = *value.whole;
    return true;
  }

  static bool take_extent(std::uint64_t extent, SlsExtents& extents) {
    if (extents.count < extents.values.size()) extents.values[extents.count] = extent;
    ++extents.count;
    return true;
  }

  SlsHeader& header_;
};

}  // namespace

bool read_sls_header(JsonReader& reader, std::string_view text, SlsHeader& header, std::string& fault) {
  HeaderReader fields(header);
  return reader.read(text, fields, fault);
}

}  // namespace pixhist
