#pragma once
// Floats of statistics, made here and nowhere else, in double, from the exact integers of reductions
// (docs/numerics.md). NaN for a pixel, or a block of pixels, without counts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/geometry.hpp"
#include "core/model/reduction.hpp"
#include "core/model/value_axis.hpp"

namespace pixhist {

/// The axis in double: limits and centres as they are in the axis type.
class StatisticsAxis {
 public:
  explicit StatisticsAxis(const AxisSpec& axis);
  double min() const { return min_; }
  double width() const { return width_; }  // of a bin
  /// NaN for 0.
  double center_of(FoundBin found) const;

 private:
  double min_;
  double width_;
  std::vector<double> centers_;
};

/// n, s1, s2 summed over pixels of which any may be full.
struct BlockMoments {
  Uint128 n;
  Uint128 s1;
  Uint128 s2;
  void add(const PixelMoments& pixel);
};

/// mean = xmin + w·(s1/n + ½)
double mean_of(const BlockMoments& moments, const StatisticsAxis& axis);
/// std = w·√(s2/n − (s1/n)²), of the population.
double std_of(const BlockMoments& moments, const StatisticsAxis& axis);

/// At least one pixel (rows, cols), in squares of side × side, those at the far ends smaller where the side
/// does not divide.
struct PixelBlocks {
  std::uint32_t rows = 0;  // of pixels
  std::uint32_t cols = 0;
  std::uint32_t side = 1;

  std::uint32_t block_rows() const { return (rows - 1) / side + 1; }
  std::uint32_t block_cols() const { return (cols - 1) / side + 1; }
  std::size_t blocks() const { return std::size_t{block_rows()} * block_cols(); }

  /// The smallest side with at most `most` rows and columns of blocks; most is at least 1.
  static PixelBlocks at_most(const Rect& pixels, std::uint32_t most);

  /// Calls fn(block, pixel) for each pixel, both in C order of their own, blocks in rising order.
  template <class Fn>
  void for_each_pixel(Fn&& fn) const {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t col = 0; col < cols; ++col)
        fn(row / side * block_cols() + col / side, row * cols + col);
    }
  }
};

// Images: one value a block, into `out` of blocks.blocks().
void sum_image(std::span<const std::uint64_t> n, const PixelBlocks& blocks, std::span<std::uint64_t> out);
void mean_image(std::span<const PixelMoments> moments, const PixelBlocks& blocks, const StatisticsAxis& axis,
                std::span<double> out);
void std_image(std::span<const PixelMoments> moments, const PixelBlocks& blocks, const StatisticsAxis& axis,
               std::span<double> out);
/// Of the highest bin found in a block.
void center_image(std::span<const FoundBin> found, const PixelBlocks& blocks, const StatisticsAxis& axis,
                  std::span<double> out);

}  // namespace pixhist
