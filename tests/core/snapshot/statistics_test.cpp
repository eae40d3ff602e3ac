#include "core/snapshot/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace pixhist;

namespace {

constexpr AxisSpec wide{65536, 0, 65536, AxisType::f32};

/// Of counts (bin, count).
PixelMoments moments_of(std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> counts) {
  PixelMoments moments;
  for (const auto& [bin, count] : counts) {
    RunMoments run;
    run.add(0, count);
    moments.add(bin, run);
  }
  return moments;
}

BlockMoments block_of(const PixelMoments& moments) {
  BlockMoments block;
  block.add(moments);
  return block;
}

}  // namespace

TEST_CASE("mean and standard deviation of a few counts, by hand") {
  const StatisticsAxis axis({10, -5, 15, AxisType::f32});  // bins of 2
  const auto one = block_of(moments_of({{3, 7}}));
  CHECK(mean_of(one, axis) == 2);  // the centre of [1, 3)
  CHECK(std_of(one, axis) == 0);
  const auto two = block_of(moments_of({{1, 1}, {5, 3}}));
  CHECK(mean_of(two, axis) == -5 + 2 * 4.5);
  CHECK(std_of(two, axis) == 2 * std::sqrt(3.0));
  CHECK(std::isnan(mean_of({}, axis)));
  CHECK(std::isnan(std_of({}, axis)));
}

TEST_CASE("axis and centres in double are those of the axis type") {
  const StatisticsAxis axis({3, 0.1, 0.7, AxisType::f32});
  CHECK(axis.min() == static_cast<double>(0.1F));
  CHECK(axis.width() == (static_cast<double>(0.7F) - static_cast<double>(0.1F)) / 3);
  const auto centers = bin_centers(make_bin_scale<float>(3, 0.1, 0.7));
  for (FoundBin bin = 0; bin < 3; ++bin) CHECK(axis.center_of(bin + 1) == static_cast<double>(centers[bin]));
  CHECK(std::isnan(axis.center_of(0)));
}

TEST_CASE("the largest sums of one pixel are exact and its moments right") {
  constexpr std::uint32_t full = 0xFFFFFFFF;
  PixelMoments moments;
  for (std::uint32_t begin = 0; begin < 65536; begin += RunMoments::longest) {
    RunMoments run;
    for (std::uint32_t j = 0; j < RunMoments::longest; ++j) run.add(j, full);
    moments.add(begin, run);
  }
  CHECK(moments.n == 65536ULL * full);
  CHECK(moments.s1 == 65536ULL * 65535 / 2 * full);
  Uint128 s2;  // Σ k² = N (N-1) (2N-1) / 6
  s2.add_product(65536ULL * 65535 / 6 * 131071, full);
  CHECK(moments.s2 == s2);
  const StatisticsAxis axis(wide);
  CHECK(mean_of(block_of(moments), axis) == 32768);
  CHECK(std_of(block_of(moments), axis) ==
        doctest::Approx(std::sqrt((65536.0 * 65536 - 1) / 12)).epsilon(1e-12));
}

TEST_CASE("128 bits: carry, borrow, product and the nearest double") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  Uint128 x{most, 0};
  x += 1U;
  CHECK(x == Uint128{0, 1});
  x -= Uint128{1, 0};
  CHECK(x == Uint128{most, 0});
  x += Uint128{most, 3};
  CHECK(x == Uint128{most - 1, 4});
  Uint128 product;
  product.add_product(most, 0xFFFFFFFF);
  CHECK(product == Uint128{0xFFFFFFFF00000001, 0xFFFFFFFE});

  // 2^64 + 2^11 + 1 lies above the middle of two doubles, though its upper word alone lies on one.
  BlockMoments block;
  block.n = {1, 0};
  block.s1 = {(1U << 11U) + 1, 1};
  const StatisticsAxis axis({2, 0, 2, AxisType::f64});
  CHECK(mean_of(block, axis) == 18446744073709555712.0);
}

TEST_CASE("rounding never gives a negative variance") {
  std::mt19937 random(3);
  const StatisticsAxis axis(wide);
  for (int i = 0; i < 1000; ++i) {
    const auto bin = static_cast<std::uint32_t>(random() % 65536);
    const double std = std_of(block_of(moments_of({{bin, static_cast<std::uint32_t>(random())}})), axis);
    CHECK(std >= 0);
    CHECK(std < 0.01);
  }
}

TEST_CASE("squares of pixels: as few as are needed, each pixel in one, the last ones smaller") {
  const Rect pixels{10, 17, 4, 9};  // 7 × 5
  for (const auto& [most, side] :
       {std::pair{1U, 7U}, {2U, 4U}, {3U, 3U}, {4U, 2U}, {6U, 2U}, {7U, 1U}, {~0U, 1U}}) {
    const auto blocks = PixelBlocks::at_most(pixels, most);
    CHECK(blocks.side == side);
    CHECK(blocks.block_rows() == (7 + side - 1) / side);
    CHECK(blocks.block_cols() == (5 + side - 1) / side);
  }
  const PixelBlocks blocks{7, 5, 3};
  std::vector<std::uint64_t> n(35);
  std::vector<std::uint64_t> expected(6);
  for (std::size_t r = 0; r < 7; ++r) {
    for (std::size_t c = 0; c < 5; ++c) {
      n[r * 5 + c] = std::uint64_t{1} << (r * 5 + c);
      expected[r / 3 * 2 + c / 3] += n[r * 5 + c];
    }
  }
  std::vector<std::uint64_t> image(6, 99);
  sum_image(n, blocks, image);
  CHECK(image == expected);
}

TEST_CASE("mean, standard deviation and highest bin of squares are those of their pixels together") {
  const StatisticsAxis axis({16, 0, 16, AxisType::f32});
  // 2 × 3 pixels in squares of 2: the first four together, then two.
  const std::vector<PixelMoments> moments{moments_of({{1, 2}}),  moments_of({{4, 1}}), {}, {},
                                          moments_of({{7, 10}}), moments_of({{9, 4}})};
  const PixelBlocks blocks{2, 3, 2};
  std::vector<double> mean(2);
  std::vector<double> std(2);
  mean_image(moments, blocks, axis, mean);
  std_image(moments, blocks, axis, std);
  const auto first = block_of(moments_of({{1, 2}, {4, 1}, {7, 10}}));
  const auto second = block_of(moments_of({{9, 4}}));
  CHECK(mean == std::vector{mean_of(first, axis), mean_of(second, axis)});
  CHECK(std == std::vector{std_of(first, axis), std_of(second, axis)});
  std::vector<double> highest(2);
  center_image(std::vector<FoundBin>{2, 5, 0, 0, 8, 10}, blocks, axis, highest);
  CHECK(highest == std::vector{7.5, 9.5});
  center_image(std::vector<FoundBin>{2, 5, 0, 0, 8, 0}, blocks, axis, highest);
  CHECK(highest[0] == 7.5);
  CHECK(std::isnan(highest[1]));
}
