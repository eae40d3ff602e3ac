#pragma once
// The argument checks of the public class, the same for every twin. All throw std::invalid_argument naming
// the argument, the value given and what is allowed.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/model/histogram_spec.hpp"

namespace pixhist {

/// What is counted `invalid` whatever the axis says.
struct HistogramOptions {
  /// At most max_invalid_values raw values that are never binned; each a value of the pixel type.
  std::vector<double> invalid_values;
  /// Empty, or rows × cols bytes in C order; non-zero: the pixel is masked.
  std::vector<std::uint8_t> mask;
};

/// Sizes as given, signed so that a negative one is named as such.
struct HistogramArguments {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nbins = 0;
  double xmin = 0;
  double xmax = 0;
};

struct HistogramTypes {
  PixelType pixel = PixelType::u16;
  AxisType axis = AxisType::f32;
  ValueMap map = ValueMap::raw;
};

/// The spec these describe, checked.
HistogramSpec make_spec(const HistogramArguments& arguments, const HistogramTypes& types,
                        HistogramOptions options);

std::uint32_t checked_batch_size(std::int64_t batch_size);

/// n_frames within [0, most], and `values` = n_frames × rows × cols.
void check_frames(std::size_t values, std::int64_t n_frames, std::int64_t most, FrameShape shape);

/// `values` = rows × cols × nbins.
void check_output(std::size_t values, FrameShape shape, std::uint32_t nbins);

/// The window of one pixel.
Rect checked_pixel(std::int64_t row, std::int64_t col, FrameShape shape);

void check_input_buffer(const void* data, std::size_t bytes);

}  // namespace pixhist
