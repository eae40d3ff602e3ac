#pragma once
// What is binned of a raw pixel value. Compile-time in every kernel; JUNGFRAU maps exist for u16 only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/host_device.hpp"
#include "core/model/pixel_type.hpp"

namespace pixhist {

/// raw: the value. For JUNGFRAU u16 words (2 gain bits on top of a 14-bit ADC): adc, the lower 14 bits;
/// gain, the two gain bits; adc_g0|g1|g2, the ADC of pixels in that gain stage only.
enum class ValueMap : std::uint8_t { raw, adc, gain, adc_g0, adc_g1, adc_g2 };

inline constexpr ValueMap all_value_maps[] = {ValueMap::raw,    ValueMap::adc,    ValueMap::gain,
                                              ValueMap::adc_g0, ValueMap::adc_g1, ValueMap::adc_g2};

constexpr std::string_view name_of(ValueMap map) {
  constexpr std::string_view names[] = {"raw", "adc", "gain", "adc_g0", "adc_g1", "adc_g2"};
  return names[static_cast<std::size_t>(map)];
}

constexpr std::optional<ValueMap> parse_value_map(std::string_view name) {
  for (auto map : all_value_maps) {
    if (name_of(map) == name) return map;
  }
  return std::nullopt;
}

/// Maps other than raw are instantiated for u16 pixels on a float axis only.
constexpr bool value_map_allowed(ValueMap map, PixelType pixel, AxisType axis) {
  return map == ValueMap::raw || (pixel == PixelType::u16 && axis == AxisType::f32);
}

/// JUNGFRAU word: gain code in bits 14-15 (0: G0, 1: G1, 3: G2; 2 does not occur in a healthy word).
namespace jungfrau {
inline constexpr std::uint16_t adc_mask = 0x3FFF;
PIXHIST_HD constexpr std::uint16_t adc(std::uint16_t word) { return word & adc_mask; }
PIXHIST_HD constexpr std::uint16_t gain_code(std::uint16_t word) {
  return static_cast<std::uint16_t>(word >> 14);
}
inline constexpr std::uint16_t invalid_gain_code = 2;

/// The gain code a stage map (adc_g0|g1|g2) accepts.
PIXHIST_HD constexpr std::uint16_t gain_code_of(ValueMap map) {
  return map == ValueMap::adc_g0 ? 0 : map == ValueMap::adc_g1 ? 1 : 3;
}
}  // namespace jungfrau

}  // namespace pixhist
