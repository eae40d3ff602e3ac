#pragma once
// Everything that fixes what a per-pixel histogram of one source means. Constant for the life of the process.

#include <cstdint>
#include <vector>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "core/model/value_axis.hpp"
#include "core/model/value_map.hpp"

namespace pixhist {

inline constexpr std::size_t max_invalid_values = 4;

struct HistogramSpec {
  FrameShape shape;
  PixelType pixel_type = PixelType::u16;
  AxisSpec axis;
  ValueMap map = ValueMap::raw;
  /// At most max_invalid_values raw values; each must be representable in pixel_type.
  std::vector<double> invalid_values;
  /// Empty, or shape.pixels() bytes in wire order; non-zero = masked (always counted `invalid`).
  std::vector<std::uint8_t> mask;
  /// In a frame without frame_flags::complete a pixel whose bytes are all 0xFF, which is what receivers fill
  /// lost packets with, is counted `invalid` and never binned.
  bool mask_missing = false;
};

/// Throws std::invalid_argument naming the argument, its value and what is allowed: rows or cols < 1, a size
/// that overflows, an axis make_bin_scale refuses, a type pair or map that is not instantiated, too many or
/// unrepresentable invalid values, a mask of the wrong size.
void check(const HistogramSpec& spec);

/// Bytes of the counts and flow counters of one source: uint32 [pixels][bins + 4]. Call check() first.
std::size_t count_bytes(const HistogramSpec& spec);

}  // namespace pixhist
