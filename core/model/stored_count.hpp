#pragma once
// A 32-bit count in the type it is handed out in. Host and device.

#include <cstdint>
#include <type_traits>

#include "core/model/host_device.hpp"

namespace pixhist {

/// The largest count Storage can hold: min(max(Storage), 2^32-1). Floats are not capped (f32 rounds above
/// 2^24).
template <class Storage>
PIXHIST_HD constexpr std::uint32_t storage_cap() {
  if constexpr (std::is_floating_point_v<Storage>)
    return ~std::uint32_t{0};
  else
    return static_cast<Storage>(~Storage{0});
}

/// Capping here equals saturating at every increment, as counts only grow. Count: a 32-bit cell, or a 64-bit
/// sum of cells.
template <class Storage, class Count>
PIXHIST_HD constexpr Storage stored_count(Count count) {
  return static_cast<Storage>(count > storage_cap<Storage>() ? std::uint32_t{storage_cap<Storage>()}
                                                             : static_cast<std::uint32_t>(count));
}

}  // namespace pixhist
