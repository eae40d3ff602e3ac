// Which bin a value gets: every pair of types, every storage type, every kind of value.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

struct Axis {
  std::uint32_t bins;
  double xmin;
  double xmax;
};

// Exact and inexact scales, integer and broken widths, negative limits, one bin, limits inexact in float.
constexpr Axis axes[] = {{1024, 0, 16384}, {1000, 0, 16384}, {45, -3.5, 41.25},   {1, -1, 1},
                         {7, 0.1, 0.7},    {256, 0, 256},    {333, -20000, 70000}};

/// The probes around one edge lie in different pixels, and those that share a pixel are dozens of bins apart,
/// so that no two errors cancel.
template <class Twin, class T, class A, class Storage>
void check_probes(const Axis& axis, std::size_t most_edges = 100000) {
  constexpr std::int64_t cols = 101;
  auto values = probes<T>(axis.bins, axis.xmin, axis.xmax, most_edges);
  const auto frames = static_cast<std::int64_t>(values.size() / cols + 1);
  values.resize(static_cast<std::size_t>(frames * cols));
  Histogram<Twin, T, Storage, A> histogram(1, cols, axis.bins, axis.xmin, axis.xmax, frames, {},
                                           Twin::engine_options(2));
  ReferenceHistogram<T, A> reference{cols, axis.bins, axis.xmin, axis.xmax};
  histogram.submit_batch(values, frames);
  reference.add(values);
  check_equal(histogram, reference);
}

}  // namespace

TEST_CASE_TEMPLATE("around every bin edge and at the ends of the type: every pair, every axis", Twin,
                   PIXHIST_TWINS) {
  for_each_type_pair([]<class T, class A>() {
    for (const Axis& axis : axes) {
      CAPTURE(name_of(pixel_type_of<T>()));
      CAPTURE(sizeof(A));
      CAPTURE(axis.bins);
      check_probes<Twin, T, A, std::uint32_t>(axis);
    }
  });
}

TEST_CASE_TEMPLATE("every pair of types in every storage type", Twin, PIXHIST_TWINS) {
  for_each_type_pair([]<class T, class A>() {
    for_each_storage([]<class Storage>() { check_probes<Twin, T, A, Storage>(axes[2]); });
  });
}

TEST_CASE_TEMPLATE("65536 bins, the most there may be", Twin, PIXHIST_TWINS) {
  for_each_type_pair([]<class T, class A>() {
    check_probes<Twin, T, A, std::uint32_t>({65536, -32768, 32768}, 20);
  });
  check_probes<Twin, std::uint16_t, float, std::uint32_t>({65536, 0, 65536}, 20);
}

TEST_CASE_TEMPLATE("xmin has a bin, the value below it and xmax have none", Twin, PIXHIST_TWINS) {
  Histogram<Twin, double, std::uint32_t> histogram(1, 4, 3, 10, 13, 4);
  const std::vector<double> values = {10, std::nextafter(10.0, 0.0), 13, std::nextafter(13.0, 0.0)};
  histogram.submit_batch(values, 1);
  CHECK_EQ(difference(histogram.values(), std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), "");
  CHECK_EQ(difference(histogram.below(), std::vector<int>{0, 1, 0, 0}), "");
  CHECK_EQ(difference(histogram.above(), std::vector<int>{0, 0, 1, 0}), "");
}

TEST_CASE_TEMPLATE("NaN is invalid, infinities are below and above", Twin, PIXHIST_TWINS) {
  using Limits = std::numeric_limits<float>;
  Histogram<Twin, float, std::uint32_t> histogram(1, 3, 8, -1, 1, 1);
  histogram.submit_batch(std::vector<float>{Limits::quiet_NaN(), -Limits::infinity(), Limits::infinity()}, 1);
  CHECK_EQ(difference(histogram.values(), std::vector<int>(24)), "");
  CHECK_EQ(difference(histogram.invalid(), std::vector<int>{1, 0, 0}), "");
  CHECK_EQ(difference(histogram.below(), std::vector<int>{0, 1, 0}), "");
  CHECK_EQ(difference(histogram.above(), std::vector<int>{0, 0, 1}), "");
}

TEST_CASE_TEMPLATE("odd sizes, one pixel, random values: every pair", Twin, PIXHIST_TWINS) {
  for_each_type_pair([]<class T, class A>() {
    for (const FrameShape shape : {FrameShape{37, 53}, FrameShape{1, 1}, FrameShape{1, 1031}}) {
      Histogram<Twin, T, std::uint32_t, A> histogram(shape.rows, shape.cols, 45, -10, 100, 4);
      ReferenceHistogram<T, A> reference{shape.pixels(), 45, -10, 100};
      const auto frames = random_frames<T>(shape.pixels() * 13, -10, 100, 7);
      histogram.fill_histogram(frames, 13);
      reference.add(frames);
      check_equal(histogram, reference);
    }
  });
}

TEST_CASE_TEMPLATE("limits are converted to the axis type before anything else", Twin, PIXHIST_TWINS) {
  // 0.1 in float lies above 0.1 in double: the float axis begins there.
  const auto value = static_cast<float>(0.1);
  Histogram<Twin, float, std::uint32_t> histogram(1, 1, 4, 0.1, 0.9, 1);
  histogram.submit_batch(std::vector<float>{value}, 1);
  CHECK_EQ(histogram.values()[0], 1);
  CHECK_EQ(histogram.bin_edges()[0], value);
}

TEST_CASE_TEMPLATE("edges and centers", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t> histogram(1, 1, 1000, -7, 16384, 1);
  const float xmin = -7;
  const float xmax = 16384;
  const auto edges = histogram.bin_edges();
  const auto centers = histogram.bin_centers();
  REQUIRE_EQ(edges.size(), 1001);
  REQUIRE_EQ(centers.size(), 1000);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i <= 1000; ++i) {
    const float part = static_cast<float>(i) * (xmax - xmin);
    wrong += edges[i] == xmin + part / 1000.0F ? 0U : 1U;
    if (i < 1000) wrong += centers[i] == (edges[i] + edges[i + 1]) / 2.0F ? 0U : 1U;
  }
  CHECK_EQ(wrong, 0);
}
