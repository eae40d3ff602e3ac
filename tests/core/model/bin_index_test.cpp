#include "core/model/bin_index.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace pixhist;

namespace {
constexpr BinScale<double> thirds{-1, 2, 1, 3};  // edges -1, 0, 1, 2
constexpr std::uint32_t below = 3;
constexpr std::uint32_t above = 4;
constexpr std::uint32_t invalid_slot = 5;
}  // namespace

TEST_CASE("bins are half open") {
  CHECK_EQ(bin_slot(-1.0, thirds), 0);
  CHECK_EQ(bin_slot(std::nextafter(-1.0, -2.0), thirds), below);
  CHECK_EQ(bin_slot(0.0, thirds), 1);
  CHECK_EQ(bin_slot(1.0, thirds), 2);
  CHECK_EQ(bin_slot(0.9999999, thirds), 1);
  CHECK_EQ(bin_slot(2.0, thirds), above);
}

TEST_CASE("a value within an ulp of an edge may lie in the neighbour bin") {
  // v - xmin = 2 - 1.1e-16 does not exist in double and rounds to 2.
  CHECK_EQ(bin_slot(std::nextafter(1.0, 0.0), thirds), 2);
}

TEST_CASE("what has no bin has a flow slot") {
  using Limits = std::numeric_limits<double>;
  CHECK_EQ(bin_slot(Limits::quiet_NaN(), thirds), invalid_slot);
  CHECK_EQ(bin_slot(Limits::infinity(), thirds), above);
  CHECK_EQ(bin_slot(-Limits::infinity(), thirds), below);
  CHECK_EQ(bin_slot(Limits::max(), thirds), above);
  CHECK_EQ(bin_slot(Limits::lowest(), thirds), below);
  CHECK_EQ(flow_slot(3, Flow::other_stage), 6);
}

TEST_CASE("a product that rounds up to the number of bins stays in the last one") {
  // 3 / (0.7 - 0.1) in float: the largest value below xmax gives a product of 3 or just under it.
  const float xmin = 0.1F;
  const float xmax = 0.7F;
  const BinScale<float> s{xmin, xmax, 3.0F / (xmax - xmin), 3};
  CHECK_EQ(bin_slot(std::nextafter(xmax, 0.0F), s), 2);
  const BinScale<float> rounded_up{0, 1, std::nextafter(1.0F, 2.0F), 1};
  CHECK_EQ(std::nextafter(1.0F, 0.0F) * rounded_up.scale, 1.0F);
  CHECK_EQ(bin_slot(std::nextafter(1.0F, 0.0F), rounded_up), 0);
}

TEST_CASE("rounding is step by step: float and double may differ") {
  // 16777217 does not exist in float.
  const BinScale<float> f{16777216.0F, 16777224.0F, 1.0F, 8};
  const BinScale<double> d{16777216.0, 16777224.0, 1.0, 8};
  CHECK_EQ(bin_slot(static_cast<float>(16777217), f), 0);
  CHECK_EQ(bin_slot(16777217.0, d), 1);
}
