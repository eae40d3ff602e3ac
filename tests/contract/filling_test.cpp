// How frames arrive: batches, threads, masks of frames, reading in between, reset.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

constexpr std::size_t rows = 37;
constexpr std::size_t cols = 53;
constexpr std::size_t pixels = rows * cols;
constexpr std::uint32_t bins = 45;

HistogramSpec small_spec() {
  HistogramSpec spec;
  spec.shape = {rows, cols};
  spec.pixel_type = PixelType::u16;
  spec.axis = {bins, 10, 1000, AxisType::f32};
  return spec;
}

std::vector<std::uint16_t> frames_of(std::size_t n, std::uint32_t seed = 5) {
  return random_frames<std::uint16_t>(pixels * n, 10, 1000, seed);
}

std::uint64_t sum(const std::vector<std::uint64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE_TEMPLATE("any batch size gives the same, with a short last batch", Twin, PIXHIST_TWINS) {
  const auto frames = frames_of(23);
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 10, 1000};
  reference.add(frames);
  for (const std::int64_t batch_size : {1, 4, 22, 23, 255}) {
    Histogram<Twin, std::uint16_t, std::uint32_t> histogram(rows, cols, bins, 10, 1000, batch_size);
    histogram.fill_histogram(frames, 23);
    histogram.flush();
    CAPTURE(batch_size);
    check_equal(histogram, reference);
  }
}

TEST_CASE_TEMPLATE("any number of workers gives the same", Twin, PIXHIST_TWINS) {
  const auto frames = frames_of(19);
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 10, 1000};
  reference.add(frames);
  for (const unsigned workers : {1U, 2U, 3U, 7U}) {
    Histogram<Twin, std::uint16_t, std::uint32_t> histogram(rows, cols, bins, 10, 1000, 8, {},
                                                            Twin::engine_options(workers));
    histogram.fill_histogram(frames, 19);
    CAPTURE(workers);
    check_equal(histogram, reference);
  }
}

TEST_CASE_TEMPLATE("values mid-run change nothing, and filling goes on", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t, std::uint32_t> histogram(rows, cols, bins, 10, 1000, 16);
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 10, 1000};
  for (std::uint32_t round = 0; round < 4; ++round) {
    const auto frames = frames_of(5 + round, round);
    histogram.submit_batch(frames, 5 + round);
    reference.add(frames);
    check_equal(histogram, reference);
    check_equal(histogram, reference);
  }
}

TEST_CASE_TEMPLATE("one pixel's bins are its row of all values", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t> histogram(rows, cols, bins, 10, 1000, 16);
  histogram.submit_batch(frames_of(16), 16);
  const auto all = histogram.values();
  for (const std::size_t p : {std::size_t{0}, cols - 1, cols, pixels / 2, pixels - 1}) {
    const std::vector<std::uint16_t> row(all.begin() + static_cast<std::ptrdiff_t>(p * bins),
                                         all.begin() + static_cast<std::ptrdiff_t>((p + 1) * bins));
    CHECK_EQ(difference(histogram.values_pixel(static_cast<std::int64_t>(p / cols),
                                               static_cast<std::int64_t>(p % cols)),
                        row),
             "");
  }
}

TEST_CASE_TEMPLATE("reset mid-run begins anew", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t, std::uint32_t> histogram(rows, cols, bins, 10, 1000, 16);
  histogram.submit_batch(frames_of(9), 9);
  histogram.reset();
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 10, 1000};
  check_equal(histogram, reference);
  const auto frames = frames_of(3, 77);
  histogram.submit_batch(frames, 3);
  reference.add(frames);
  check_equal(histogram, reference);
}

TEST_CASE_TEMPLATE("a registered buffer counts like any other memory", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t, std::uint32_t> histogram(rows, cols, bins, 10, 1000, 16);
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 10, 1000};
  const auto first = frames_of(10, 1);
  const auto second = frames_of(10, 2);
  histogram.unregister_input_buffer();
  histogram.register_input_buffer(first.data(), first.size() * sizeof(std::uint16_t));
  histogram.submit_batch(first, 10);
  histogram.submit_batch(second, 10);
  histogram.register_input_buffer(second.data(), second.size() * sizeof(std::uint16_t));
  histogram.submit_batch(second, 10);
  histogram.unregister_input_buffer();
  histogram.submit_batch(first, 10);
  for (const auto* frames : {&first, &second, &second, &first}) reference.add(*frames);
  check_equal(histogram, reference);
}

TEST_CASE_TEMPLATE("no frames change nothing", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t, std::uint32_t> histogram(rows, cols, bins, 10, 1000, 16);
  histogram.submit_batch({}, 0);
  histogram.fill_histogram({}, 0);
  check_equal(histogram, ReferenceHistogram<std::uint16_t, float>{pixels, bins, 10, 1000});
}

TEST_CASE_TEMPLATE("a frame that is not ok counts with not one pixel", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(small_spec());
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 10, 1000};
  const auto values = frames_of(12);
  for (int round = 0; round < 4; ++round) {
    RingFrames<std::uint16_t> batch(values, pixels);
    for (std::size_t f = 0; f < 12; ++f) {
      const bool ok = round == 0 ? f % 3 != 0 : round == 1 ? f > 10 : round == 2;  // the last round: none
      batch.ok[f] = ok ? 1 : 0;
      if (ok)
        reference.add({values.begin() + static_cast<std::ptrdiff_t>(f * pixels),
                       values.begin() + static_cast<std::ptrdiff_t>((f + 1) * pixels)});
    }
    twin.accumulate(batch.bytes, batch.table, batch.ok);
  }
  CHECK_EQ(twin.get().frames(), 8 + 1 + 12);
  CHECK_EQ(difference(read_all<std::uint32_t>(twin.get()), reference.counts), "");
  CHECK_EQ(difference(read_flow(twin.get(), Flow::below), reference.below), "");
  CHECK_EQ(difference(read_flow(twin.get(), Flow::above), reference.above), "");
}

TEST_CASE_TEMPLATE("totals of the flow counters", Twin, PIXHIST_TWINS) {
  HistogramSpec spec = small_spec();
  spec.map = ValueMap::adc_g1;
  spec.axis = {bins, 1000, 15000, AxisType::f32};
  spec.mask.assign(pixels, 0);
  spec.mask[17] = 1;
  typename Twin::Counts twin(spec);
  ReferenceHistogram<std::uint16_t, float> reference{pixels, bins, 1000, 15000, "adc_g1", {}, spec.mask};
  CHECK_EQ(twin.get().flow_totals(), FlowTotals{});
  for (std::uint32_t round = 0; round < 3; ++round) {
    const auto values = random_frames<std::uint16_t>(pixels * 7, 0, 65535, round);
    const RingFrames<std::uint16_t> batch(values, pixels);
    twin.accumulate(batch.bytes, batch.table, batch.ok);
    reference.add(values);
    const FlowTotals totals = twin.get().flow_totals();
    CHECK_EQ(totals.below, sum(reference.below));
    CHECK_EQ(totals.above, sum(reference.above));
    CHECK_EQ(totals.invalid, sum(reference.invalid));
    CHECK_EQ(totals.other_stage, sum(reference.other_stage));
  }
  CHECK_GT(sum(reference.other_stage), 0);
  twin.get().zero();
  CHECK_EQ(twin.get().flow_totals(), FlowTotals{});
  CHECK_EQ(twin.get().frames(), 0);
}
