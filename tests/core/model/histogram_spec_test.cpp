#include "core/model/histogram_spec.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace pixhist;

namespace {

HistogramSpec good() {
  HistogramSpec spec;
  spec.shape = {2, 3};
  spec.pixel_type = PixelType::u16;
  spec.axis = {8, 0, 16, AxisType::f32};
  return spec;
}

std::string refusal(const HistogramSpec& spec) {
  try {
    check(spec);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("exactly the listed pairs of pixel and axis type") {
  for (const auto pixel : {PixelType::u8, PixelType::u16, PixelType::u32, PixelType::i16, PixelType::i32,
                           PixelType::f32, PixelType::f64}) {
    for (const auto axis : {AxisType::f32, AxisType::f64}) {
      HistogramSpec spec = good();
      spec.pixel_type = pixel;
      spec.axis.type = axis;
      const bool wide = pixel == PixelType::u32 || pixel == PixelType::i32 || pixel == PixelType::f64;
      const bool allowed = pixel == PixelType::f32 || wide == (axis == AxisType::f64);
      CAPTURE(name_of(pixel));
      CHECK_EQ(refusal(spec).empty(), allowed);
    }
  }
  HistogramSpec spec = good();
  spec.axis.type = AxisType::f64;
  CHECK_EQ(
      refusal(spec),
      "axis type double with pixel type u16, allowed: float with u8, u16, i16, f32; double with u32, i32, "
      "f32, f64");
}

TEST_CASE("maps are for u16") {
  HistogramSpec spec = good();
  for (const auto map : all_value_maps) {
    spec.map = map;
    CHECK_EQ(refusal(spec), "");
  }
  spec.pixel_type = PixelType::i16;
  CHECK_EQ(refusal(spec),
           "value map adc_g2 with pixel type i16, allowed: maps other than raw with u16 and a float axis");
}

TEST_CASE("invalid values must be values of the pixel type") {
  HistogramSpec spec = good();
  spec.invalid_values = {0, 65535};
  CHECK_EQ(refusal(spec), "");
  spec.pixel_type = PixelType::u8;
  CHECK_EQ(refusal(spec), "invalid value 65535 is no value of pixel type u8");
  spec.pixel_type = PixelType::i32;
  spec.axis.type = AxisType::f64;
  spec.invalid_values = {-2147483648.0};
  CHECK_EQ(refusal(spec), "");
  spec.invalid_values = {2147483648.0};
  CHECK_EQ(refusal(spec), "invalid value 2147483648 is no value of pixel type i32");
}

TEST_CASE("bytes of the counts") {
  CHECK_EQ(count_bytes(good()), 6 * 12 * 4);
  HistogramSpec spec = good();
  spec.shape = {4096, 4096};
  spec.axis.bins = 65536;
  CHECK_EQ(count_bytes(spec), std::size_t{16777216} * 65540 * 4);
}

TEST_CASE("sizes that overflow") {
  HistogramSpec spec = good();
  spec.shape = {4294967295, 4294967295};
  CHECK_EQ(refusal(spec),
           "rows × cols × bins is 4294967295 × 4294967295 × 8, which overflows 63 bits in bytes");
  spec.shape = {0, 3};
  CHECK_EQ(refusal(spec), "rows is 0, allowed: at least 1");
}
