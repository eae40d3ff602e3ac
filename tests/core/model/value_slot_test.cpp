#include "core/model/value_slot.hpp"

#include <doctest/doctest.h>

using namespace pixhist;

namespace {
constexpr BinScale<float> scale{0, 16384, 1.0F, 16384};
constexpr std::uint32_t invalid = 16384 + 2;
constexpr std::uint32_t other_stage = 16384 + 3;
constexpr InvalidValues<std::uint16_t> none;

template <ValueMap M>
std::uint32_t slot(std::uint16_t word) {
  return value_slot<M>(word, scale, none);
}
}  // namespace

TEST_CASE("names of maps read back") {
  for (const auto map : all_value_maps) CHECK(parse_value_map(name_of(map)) == map);
  CHECK_FALSE(parse_value_map("adc_g3").has_value());
}

TEST_CASE("a JUNGFRAU word under each map") {
  CHECK_EQ(slot<ValueMap::adc>(0x4123), 0x0123);
  CHECK_EQ(slot<ValueMap::gain>(0xC123), 3);
  CHECK_EQ(slot<ValueMap::adc_g0>(0x0123), 0x0123);
  CHECK_EQ(slot<ValueMap::adc_g0>(0x4123), other_stage);
  CHECK_EQ(slot<ValueMap::adc_g1>(0x4123), 0x0123);
  CHECK_EQ(slot<ValueMap::adc_g2>(0xC123), 0x0123);
  CHECK_EQ(slot<ValueMap::adc_g2>(0x4123), other_stage);
}

TEST_CASE("gain code 2 is no value") {
  CHECK_EQ(slot<ValueMap::adc>(0x8123), invalid);
  CHECK_EQ(slot<ValueMap::gain>(0x8123), invalid);
  CHECK_EQ(slot<ValueMap::adc_g1>(0x8123), invalid);
  CHECK_EQ(slot<ValueMap::raw>(0x8123), 16384 + 1);
}

TEST_CASE("invalid values are raw values and come first") {
  const InvalidValues<std::uint16_t> set{{0x4123, 9, 9, 9}, 2};
  CHECK_EQ(value_slot<ValueMap::adc>(std::uint16_t{0x4123}, scale, set), invalid);
  CHECK_EQ(value_slot<ValueMap::adc>(std::uint16_t{0x0123}, scale, set), 0x0123);
  CHECK_EQ(value_slot<ValueMap::adc_g1>(std::uint16_t{9}, scale, set), invalid);
  // Without a set, 0 in the unused places is a value like any other.
  CHECK_EQ(slot<ValueMap::raw>(0), 0);
}
