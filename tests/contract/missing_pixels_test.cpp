// Frames flagged incomplete, whose lost parts receivers fill with 0xFF.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

constexpr std::size_t pixels = 90;
constexpr std::uint32_t bins = 700;

template <class T>
bool all_bytes_set(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char b) { return b == 0xFF; });
}

/// Every third pixel of every frame holds the fill value; frames 1, 4, 7, … are incomplete.
template <class Twin, class T>
void check_missing(double xmax, AxisType axis, bool mask_missing, std::size_t frames) {
  HistogramSpec spec;
  spec.shape = {9, 10};
  spec.pixel_type = pixel_type_of<T>();
  spec.axis = {bins, 0, xmax, axis};
  spec.mask_missing = mask_missing;
  typename Twin::Counts twin(spec);
  std::vector<T> values = random_frames<T>(pixels * frames, 0, 250, 3);
  for (std::size_t i = 0; i < values.size(); i += 3) std::memset(&values[i], 0xFF, sizeof(T));
  RingFrames<T> batch(values, pixels);
  std::vector<std::uint64_t> invalid(pixels);
  std::vector<std::uint64_t> counted(pixels);  // in a bin or above
  for (std::size_t f = 0; f < frames; ++f) {
    const bool complete = f % 3 != 1;
    batch.table[f].flags = complete ? frame_flags::complete : 0;
    for (std::size_t p = 0; p < pixels; ++p) {
      const std::size_t i = f * pixels + p;
      const bool is_nan = values[i] != values[i];
      const bool gone = is_nan || (mask_missing && !complete && all_bytes_set(values[i]));
      ++(gone ? invalid : counted)[p];
    }
  }
  twin.accumulate(batch.bytes, batch.table, batch.ok);
  CHECK_EQ(difference(read_flow(twin.get(), Flow::invalid), invalid), "");
  const auto all = read_all<std::uint32_t>(twin.get());
  auto found = read_flow(twin.get(), Flow::above);
  const auto below = read_flow(twin.get(), Flow::below);
  for (std::size_t p = 0; p < pixels; ++p) {
    found[p] += below[p];
    for (std::size_t b = 0; b < bins; ++b) found[p] += all[p * bins + b];
  }
  CHECK_EQ(difference(found, counted), "");
}

}  // namespace

TEST_CASE_TEMPLATE("fill values are invalid in incomplete frames only, and only if asked for", Twin,
                   PIXHIST_TWINS) {
  for (const bool mask_missing : {false, true}) {
    for (const std::size_t frames : {std::size_t{2}, std::size_t{20}, std::size_t{100}}) {
      CAPTURE(mask_missing);
      CAPTURE(frames);
      check_missing<Twin, std::uint8_t>(256, AxisType::f32, mask_missing, frames);
      check_missing<Twin, std::uint16_t>(65536, AxisType::f32, mask_missing, frames);
      check_missing<Twin, std::uint32_t>(1000, AxisType::f64, mask_missing, frames);
      check_missing<Twin, std::int16_t>(250, AxisType::f32, mask_missing, frames);
      check_missing<Twin, std::int32_t>(250, AxisType::f64, mask_missing, frames);
      check_missing<Twin, float>(250, AxisType::f32, mask_missing, frames);
      check_missing<Twin, double>(250, AxisType::f64, mask_missing, frames);
    }
  }
}

TEST_CASE_TEMPLATE("a fill value is missing before it is a gain stage", Twin, PIXHIST_TWINS) {
  HistogramSpec spec;
  spec.shape = {1, 2};
  spec.pixel_type = PixelType::u16;
  spec.axis = {16, 0, 16384, AxisType::f32};
  spec.map = ValueMap::adc_g0;
  spec.mask_missing = true;
  typename Twin::Counts twin(spec);
  const std::vector<std::uint16_t> values = {0xFFFF, 0xFFFE, 0xFFFF, 0xFFFE};
  RingFrames<std::uint16_t> batch(values, 2);
  batch.table[1].flags = 0;
  twin.accumulate(batch.bytes, batch.table, batch.ok);
  CHECK_EQ(difference(read_flow(twin.get(), Flow::invalid), std::vector<int>{1, 0}), "");
  CHECK_EQ(difference(read_flow(twin.get(), Flow::other_stage), std::vector<int>{1, 2}), "");
}
