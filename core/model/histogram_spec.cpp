#include "core/model/histogram_spec.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace pixhist {
namespace {

void fail(const std::string& what) { throw std::invalid_argument(what); }

template <class T>
bool representable(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) && static_cast<double>(static_cast<T>(value)) == value;
  } else {
    return value == std::floor(value) && value >= static_cast<double>(std::numeric_limits<T>::min()) &&
           value <= static_cast<double>(std::numeric_limits<T>::max());
  }
}

void check_shape(const HistogramSpec& spec) {
  if (spec.shape.rows < 1) fail("rows is 0, allowed: at least 1");
  if (spec.shape.cols < 1) fail("cols is 0, allowed: at least 1");
  // pixels() itself cannot overflow (two 32-bit factors); its product with the cells of a pixel can.
  const std::uint64_t cells = std::uint64_t{spec.axis.bins} + flow_count;
  if (spec.shape.pixels() > std::numeric_limits<std::int64_t>::max() / (cells * sizeof(std::uint32_t)))
    fail("rows × cols × bins is " + std::to_string(spec.shape.rows) + " × " +
         std::to_string(spec.shape.cols) + " × " + std::to_string(spec.axis.bins) +
         ", which overflows 63 bits in bytes");
}

void check_invalid_values(const HistogramSpec& spec) {
  if (spec.invalid_values.size() > max_invalid_values)
    fail(std::to_string(spec.invalid_values.size()) + " invalid values given, allowed: at most " +
         std::to_string(max_invalid_values));
  for (const double value : spec.invalid_values) {
    const bool ok =
        visit_pixel_type(spec.pixel_type, [&]<class T>(TypeTag<T>) { return representable<T>(value); });
    if (!ok)
      fail("invalid value " + number_text(value) + " is no value of pixel type " +
           std::string(name_of(spec.pixel_type)));
  }
}

}  // namespace

void check(const HistogramSpec& spec) {
  visit_bin_scale(spec.axis, [](auto) {});
  check_shape(spec);
  const std::string pixel(name_of(spec.pixel_type));
  if (!axis_type_allowed(spec.pixel_type, spec.axis.type))
    fail("axis type " + std::string(name_of(spec.axis.type)) + " with pixel type " + pixel +
         ", allowed: float with u8, u16, i16, f32; double with u32, i32, f32, f64");
  if (!value_map_allowed(spec.map, spec.pixel_type, spec.axis.type))
    fail("value map " + std::string(name_of(spec.map)) + " with pixel type " + pixel +
         ", allowed: maps other than raw with u16 and a float axis");
  check_invalid_values(spec);
  if (!spec.mask.empty() && spec.mask.size() != spec.shape.pixels())
    fail("the pixel mask has " + std::to_string(spec.mask.size()) +
         " entries, needed: rows × cols = " + std::to_string(spec.shape.pixels()));
}

std::size_t count_bytes(const HistogramSpec& spec) {
  return spec.shape.pixels() * (std::size_t{spec.axis.bins} + flow_count) * sizeof(std::uint32_t);
}

}  // namespace pixhist
