#pragma once
// From a raw pixel value to its slot: invalid set, value map, bin. Host and device.

#include <array>
#include <cstdint>
#include <type_traits>

#include "core/model/bin_index.hpp"
#include "core/model/host_device.hpp"
#include "core/model/value_map.hpp"

namespace pixhist {

/// Up to four raw values that are never binned but counted `invalid` (DECTRIS 2^n-1 and 2^n-2, INT_MIN, …).
/// Unused places repeat a used one; with count = 0 nothing is compared.
template <class T>
struct InvalidValues {
  T values[4] = {};
  std::uint32_t count = 0;

  PIXHIST_HD constexpr bool contains(T v) const {
    if (count == 0) return false;
    return static_cast<bool>(static_cast<int>(v == values[0]) | static_cast<int>(v == values[1]) |
                             static_cast<int>(v == values[2]) | static_cast<int>(v == values[3]));
  }
};

/// True for what receivers write where a part of a frame was lost: all bits set. Legal elsewhere, so asked
/// only of frames that are not complete (on_incomplete: mask_missing). Of a float those bits are a NaN, which
/// is invalid in any frame.
template <class T>
PIXHIST_HD constexpr bool is_missing_fill(T raw) {
  if constexpr (std::is_integral_v<T>) {
    return raw == static_cast<T>(~T{0});
  } else {
    return false;
  }
}

/// Slot of a raw value: invalid set first, then gain code 2 (in every map but raw), then other stages, then
/// the axis. The pixel mask is the caller's: a masked pixel is `invalid` whatever its value.
template <ValueMap M, class A, class T>
PIXHIST_HD constexpr std::uint32_t value_slot(T raw, const BinScale<A>& scale,
                                              const InvalidValues<T>& invalid) {
  if (invalid.contains(raw)) return flow_slot(scale.bins, Flow::invalid);
  if constexpr (M == ValueMap::raw) {
    return bin_slot(static_cast<A>(raw), scale);
  } else {
    const auto gain = jungfrau::gain_code(raw);
    if (gain == jungfrau::invalid_gain_code) return flow_slot(scale.bins, Flow::invalid);
    if constexpr (M == ValueMap::gain) return bin_slot(static_cast<A>(gain), scale);
    if constexpr (M == ValueMap::adc_g0 || M == ValueMap::adc_g1 || M == ValueMap::adc_g2) {
      if (gain != jungfrau::gain_code_of(M)) return flow_slot(scale.bins, Flow::other_stage);
    }
    return bin_slot(static_cast<A>(jungfrau::adc(raw)), scale);
  }
}

}  // namespace pixhist
