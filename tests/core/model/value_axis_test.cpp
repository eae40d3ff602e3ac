#include "core/model/value_axis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace pixhist;

TEST_CASE("scale is computed once, in the axis type") {
  const auto f = make_bin_scale<float>(1000, 0, 16384);
  CHECK_EQ(f.scale, 1000.0F / 16384.0F);
  const auto d = make_bin_scale<double>(7, 0.1, 0.7);
  CHECK_EQ(d.scale, 7.0 / (0.7 - 0.1));
  CHECK_EQ(make_bin_scale<float>(7, 0.1, 0.7).xmin, 0.1F);
}

TEST_CASE("edges begin at xmin and end at xmax") {
  const auto edges = bin_edges(make_bin_scale<double>(4, -1, 1));
  CHECK(edges == std::vector<double>{-1, -0.5, 0, 0.5, 1});
  CHECK(bin_centers(make_bin_scale<double>(4, -1, 1)) == std::vector<double>{-0.75, -0.25, 0.25, 0.75});
}

TEST_CASE("what is no axis") {
  CHECK_THROWS_WITH_AS(make_bin_scale<float>(0, 0, 1), "bins is 0, allowed: 1 to 65536",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bin_scale<float>(65537, 0, 1), "bins is 65537, allowed: 1 to 65536",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bin_scale<float>(1, 1e39, 2e39),
                       "xmin is 1e+39, allowed: a number finite in the axis type", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_bin_scale<double>(1, 0, 1e-310),
                       "xmax - xmin is 1e-310, allowed: a finite, normal width", std::invalid_argument);
  CHECK_NOTHROW(make_bin_scale<double>(65536, -1e300, 1e300));
}

TEST_CASE("a comb: integers on bins whose width is no integer") {
  CHECK(axis_has_comb(PixelType::u16, {1000, 0, 16384, AxisType::f32}));
  CHECK_FALSE(axis_has_comb(PixelType::u16, {1024, 0, 16384, AxisType::f32}));
  CHECK_FALSE(axis_has_comb(PixelType::f32, {1000, 0, 16384, AxisType::f32}));
}

TEST_CASE("1000 bins on 14 bits: 616 bins hold 16 values, 384 hold 17") {
  const auto scale = make_bin_scale<float>(1000, 0, 16384);
  std::vector<int> values(1000);
  for (int v = 0; v < 16384; ++v) ++values[bin_slot(static_cast<float>(v), scale)];
  CHECK_EQ(std::count(values.begin(), values.end(), 16), 616);
  CHECK_EQ(std::count(values.begin(), values.end(), 17), 384);
}
