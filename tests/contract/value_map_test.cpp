// JUNGFRAU maps, the invalid set and the pixel mask.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

/// Random ADC values under all four gain codes, and the ends of each code's range.
std::vector<std::uint16_t> jungfrau_frames(std::size_t pixels, std::size_t frames) {
  std::mt19937 engine(11);
  std::vector<std::uint16_t> out(pixels * frames);
  for (auto& v : out) v = static_cast<std::uint16_t>(engine());
  std::size_t i = 0;
  for (const int v : {0x0000, 0x3FFF, 0x4000, 0x7FFF, 0x8000, 0xBFFF, 0xC000, 0xFFFF})
    out[i++] = static_cast<std::uint16_t>(v);
  return out;
}

template <class Twin, ValueMap Map>
void check_map(std::uint32_t bins, double xmin, double xmax) {
  constexpr std::size_t pixels = std::size_t{7} * 11;
  HistogramOptions options;
  options.invalid_values = {0xFFFF, 0x1234};
  options.mask.assign(pixels, 0);
  options.mask[3] = 1;
  options.mask[76] = 255;
  ReferenceHistogram<std::uint16_t, float> reference{
      pixels, bins, xmin, xmax, std::string(name_of(Map)), {0xFFFF, 0x1234}, options.mask};
  Histogram<Twin, std::uint16_t, std::uint32_t, float, Map> histogram(7, 11, bins, xmin, xmax, 16, options);
  const auto frames = jungfrau_frames(pixels, 50);
  histogram.fill_histogram(frames, 50);
  reference.add(frames);
  CAPTURE(name_of(Map));
  check_equal(histogram, reference);
}

}  // namespace

TEST_CASE_TEMPLATE("every map with every gain code, invalid values and mask", Twin, PIXHIST_TWINS) {
  for (const double xmin : {0.0, 100.0}) {
    check_map<Twin, ValueMap::raw>(1000, xmin, 65536);
    check_map<Twin, ValueMap::adc>(1000, xmin, 16000);
    check_map<Twin, ValueMap::adc_g0>(1024, xmin, 16384);
    check_map<Twin, ValueMap::adc_g1>(1024, xmin, 16384);
    check_map<Twin, ValueMap::adc_g2>(45, xmin, 16384);
  }
  check_map<Twin, ValueMap::gain>(4, 0, 4);
  check_map<Twin, ValueMap::gain>(2, 1, 3);
}

TEST_CASE_TEMPLATE("gain code 2 is invalid in every map but raw; other stages are counted", Twin,
                   PIXHIST_TWINS) {
  // One pixel per gain code, ADC value 5.
  const std::vector<std::uint16_t> frame = {0x0005, 0x4005, 0x8005, 0xC005};
  const auto run = [&](auto& histogram) { histogram.submit_batch(frame, 1); };
  Histogram<Twin, std::uint16_t, std::uint32_t, float, ValueMap::adc_g2> stage(1, 4, 8, 0, 8, 1);
  run(stage);
  CHECK_EQ(difference(stage.other_stage(), std::vector<int>{1, 1, 0, 0}), "");
  CHECK_EQ(difference(stage.invalid(), std::vector<int>{0, 0, 1, 0}), "");
  CHECK_EQ(stage.values_pixel(0, 3)[5], 1);
  Histogram<Twin, std::uint16_t, std::uint32_t, float, ValueMap::gain> gain(1, 4, 4, 0, 4, 1);
  run(gain);
  CHECK_EQ(difference(gain.values(), std::vector<int>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), "");
  Histogram<Twin, std::uint16_t, std::uint32_t> raw(1, 4, 4, 0, 65536, 1);
  run(raw);
  CHECK_EQ(difference(raw.invalid(), std::vector<int>(4)), "");
  CHECK_EQ(raw.values_pixel(0, 2)[2], 1);
}

TEST_CASE_TEMPLATE("one to four invalid values: every pair", Twin, PIXHIST_TWINS) {
  for_each_type_pair([]<class T, class A>() {
    const T candidates[] = {std::numeric_limits<T>::max(), T{7}, std::numeric_limits<T>::lowest(), T{0}};
    for (std::size_t n = 1; n <= 4; ++n) {
      HistogramOptions options;
      ReferenceHistogram<T, A> reference{60, 45, -10, 100};
      for (std::size_t i = 0; i < n; ++i) {
        options.invalid_values.push_back(static_cast<double>(candidates[i]));
        reference.invalid_values.push_back(candidates[i]);
      }
      Histogram<Twin, T, std::uint32_t, A> histogram(6, 10, 45, -10, 100, 8, options);
      auto frames = random_frames<T>(std::size_t{60} * 8, -10, 100, 3);
      for (std::size_t i = 0; i < frames.size(); i += 5) frames[i] = candidates[(i / 5) % 4];
      histogram.submit_batch(frames, 8);
      reference.add(frames);
      check_equal(histogram, reference);
    }
  });
}
