#include "core/snapshot/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pixhist {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// The nearest double, as of an integer of any size.
double to_double(const Uint128& x) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<double>(Wide{x.high} << 64U | x.low);
}

template <class Value>
void moments_image(std::span<const PixelMoments> moments, const PixelBlocks& blocks, std::span<double> out,
                   Value&& value) {
  std::vector<BlockMoments> row(blocks.block_cols());
  for (std::uint32_t block_row = 0; block_row < blocks.block_rows(); ++block_row) {
    std::fill(row.begin(), row.end(), BlockMoments{});
    const std::size_t begin = std::size_t{block_row} * blocks.side;
    const std::size_t end = std::min<std::size_t>(blocks.rows, begin + blocks.side);
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t c = 0; c < blocks.cols; ++c) row[c / blocks.side].add(moments[r * blocks.cols + c]);
    }
    std::transform(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(block_row * row.size()),
                   value);
  }
}

}  // namespace

StatisticsAxis::StatisticsAxis(const AxisSpec& axis) {
  visit_bin_scale(axis, [this](const auto& scale) {
    min_ = static_cast<double>(scale.xmin);
    width_ = (static_cast<double>(scale.xmax) - min_) / scale.bins;
    const auto centers = bin_centers(scale);
    centers_.assign(centers.begin(), centers.end());
  });
}

double StatisticsAxis::center_of(FoundBin found) const { return found == 0 ? nothing : centers_[found - 1]; }

void BlockMoments::add(const PixelMoments& pixel) {
  n += pixel.n;
  s1 += pixel.s1;
  s2 += pixel.s2;
}

double mean_of(const BlockMoments& moments, const StatisticsAxis& axis) {
  if (moments.n == Uint128{}) return nothing;
  return axis.min() + axis.width() * (to_double(moments.s1) / to_double(moments.n) + 0.5);
}

double std_of(const BlockMoments& moments, const StatisticsAxis& axis) {
  if (moments.n == Uint128{}) return nothing;
  const double n = to_double(moments.n);
  const double mean = to_double(moments.s1) / n;
  const double variance = to_double(moments.s2) / n - mean * mean;
  return axis.width() * std::sqrt(std::max(variance, 0.0));  // rounding may leave less than nothing
}

PixelBlocks PixelBlocks::at_most(const Rect& pixels, std::uint32_t most) {
  const std::uint32_t longest = std::max(pixels.rows(), pixels.cols());
  return {pixels.rows(), pixels.cols(), (longest - 1) / most + 1};
}

void sum_image(std::span<const std::uint64_t> n, const PixelBlocks& blocks, std::span<std::uint64_t> out) {
  std::fill(out.begin(), out.end(), 0);
  blocks.for_each_pixel([&](std::size_t block, std::size_t pixel) { out[block] += n[pixel]; });
}

void mean_image(std::span<const PixelMoments> moments, const PixelBlocks& blocks, const StatisticsAxis& axis,
                std::span<double> out) {
  moments_image(moments, blocks, out, [&axis](const BlockMoments& m) { return mean_of(m, axis); });
}

void std_image(std::span<const PixelMoments> moments, const PixelBlocks& blocks, const StatisticsAxis& axis,
               std::span<double> out) {
  moments_image(moments, blocks, out, [&axis](const BlockMoments& m) { return std_of(m, axis); });
}

void center_image(std::span<const FoundBin> found, const PixelBlocks& blocks, const StatisticsAxis& axis,
                  std::span<double> out) {
  std::vector<FoundBin> highest(blocks.blocks());
  blocks.for_each_pixel(
      [&](std::size_t block, std::size_t pixel) { highest[block] = std::max(highest[block], found[pixel]); });
  std::transform(highest.begin(), highest.end(), out.begin(),
                 [&axis](FoundBin bin) { return axis.center_of(bin); });
}

}  // namespace pixhist
