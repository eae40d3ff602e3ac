// Shapes at which a kernel changes its way of counting: bins about the limits of counters in shared memory
// and of 16-bit slots, batches about the 255 frames of an 8-bit counter, detectors smaller than a block.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

/// Half of the values within a peak of each pixel's own, half anywhere, ends and outside included.
template <class T>
std::vector<T> peaked_frames(std::size_t pixels, std::size_t frames, std::uint32_t top, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<T> out(pixels * frames);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint32_t peak = static_cast<std::uint32_t>(i % pixels * 7919) % (top + 1);
    const auto r = static_cast<std::uint32_t>(engine());
    out[i] = static_cast<T>(r % 2 == 0 ? std::min(peak + (r >> 8) % 20, top) : (r >> 8) % (top + 1));
  }
  return out;
}

template <class Twin, class T>
void check_shape(std::int64_t rows, std::int64_t cols, std::uint32_t bins, std::int64_t frames, double xmin,
                 double xmax, std::uint32_t top) {
  const auto pixels = static_cast<std::size_t>(rows * cols);
  HistogramOptions options;
  options.mask.assign(pixels, 0);
  options.mask[pixels / 2] = 1;
  Histogram<Twin, T, std::uint32_t> histogram(rows, cols, bins, xmin, xmax, frames, options);
  ReferenceHistogram<T, float> reference{pixels, bins, xmin, xmax, "raw", {}, options.mask};
  for (std::uint32_t batch = 0; batch < 2; ++batch) {
    const auto values = peaked_frames<T>(pixels, static_cast<std::size_t>(frames), top, batch + bins);
    histogram.submit_batch(values, frames);
    reference.add(values);
  }
  CAPTURE(rows);
  CAPTURE(cols);
  CAPTURE(bins);
  CAPTURE(frames);
  check_equal(histogram, reference);
}

}  // namespace

TEST_CASE_TEMPLATE("bins about every limit of the kernels", Twin, PIXHIST_TWINS) {
  for (const std::uint32_t bins :
       {1U, 2U, 252U, 256U, 257U, 508U, 509U, 512U, 1020U, 1024U, 1025U, 2044U, 2045U, 4096U})
    check_shape<Twin, std::uint16_t>(3, 43, bins, 40, 100, 16000, 16383);
}

TEST_CASE_TEMPLATE("the most bins", Twin, PIXHIST_TWINS) {
  for (const std::uint32_t bins : {16384U, 16385U, 65531U, 65532U, 65535U, 65536U})
    check_shape<Twin, std::uint16_t>(1, 33, bins, 30, 0, 65536, 65535);
}

TEST_CASE_TEMPLATE("frames of a batch about every limit of the kernels", Twin, PIXHIST_TWINS) {
  for (const std::int64_t frames : {1, 3, 4, 7, 23, 24, 25, 254, 255, 256, 510, 511, 600})
    check_shape<Twin, std::uint16_t>(2, 37, 600, frames, 100, 16000, 16383);
}

TEST_CASE_TEMPLATE("detectors of less than a block, and of one pixel more", Twin, PIXHIST_TWINS) {
  for (const std::int64_t cols : {1, 2, 31, 32, 33, 64, 65})
    for (const std::uint32_t bins : {40U, 700U})
      check_shape<Twin, std::uint16_t>(1, cols, bins, 60, 100, 16000, 16383);
}

TEST_CASE_TEMPLATE("all values of all pixels the same, more often than an 8-bit counter holds", Twin,
                   PIXHIST_TWINS) {
  for (const std::uint32_t bins : {100U, 1000U, 5000U}) {
    Histogram<Twin, std::uint16_t, std::uint32_t> histogram(2, 40, bins, 0, 16384, 700);
    ReferenceHistogram<std::uint16_t, float> reference{80, bins, 0, 16384};
    for (const std::uint16_t value : {std::uint16_t{0}, std::uint16_t{8000}, std::uint16_t{16383}}) {
      const std::vector<std::uint16_t> values(std::size_t{80} * 700, value);
      histogram.submit_batch(values, 700);
      reference.add(values);
    }
    check_equal(histogram, reference);
  }
}

TEST_CASE_TEMPLATE("other pixel types over many bins", Twin, PIXHIST_TWINS) {
  check_shape<Twin, std::uint8_t>(3, 50, 256, 300, 0, 256, 255);
  check_shape<Twin, std::uint8_t>(3, 50, 900, 300, 10, 200, 255);
  check_shape<Twin, float>(3, 50, 2000, 100, 100, 16000, 16383);
}

TEST_CASE_TEMPLATE("values that change from peaks to scatter and back", Twin, PIXHIST_TWINS) {
  constexpr std::size_t pixels = 70;
  Histogram<Twin, std::uint16_t, std::uint32_t> histogram(1, pixels, 2000, 0, 16384, 64);
  ReferenceHistogram<std::uint16_t, float> reference{pixels, 2000, 0, 16384};
  for (std::uint32_t batch = 0; batch < 150; ++batch) {
    const bool scattered = batch >= 20 && batch < 120;
    const auto values = scattered ? random_frames<std::uint16_t>(pixels * 30, 0, 16384, batch)
                                  : peaked_frames<std::uint16_t>(pixels, 30, 40, batch);
    histogram.submit_batch(values, 30);
    histogram.flush();  // so that a policy that learns has learnt
    reference.add(values);
  }
  check_equal(histogram, reference);
}
