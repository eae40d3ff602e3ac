// A third opinion: exact arithmetic, for an axis on which the contract's rounding steps are all exact.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

constexpr std::uint32_t bins = 1024;
constexpr double xmax = 16384;

/// floor(v * 1024 / 16384) = floor(v / 16) of the real number v in [0, 16384), by integers alone.
template <class T>
std::uint64_t exact_bin(T v) {
  if constexpr (std::numeric_limits<T>::is_integer) {
    return static_cast<std::uint64_t>(v) / 16;
  } else {
    int exponent = 0;
    const double fraction = std::frexp(static_cast<double>(v), &exponent);  // v = fraction * 2^exponent
    const auto mantissa =
        static_cast<std::uint64_t>(std::ldexp(fraction, 53));  // v = mantissa * 2^(exponent - 53)
    const int shift = 53 - exponent + 4;
    return shift > 63 ? 0 : mantissa >> shift;
  }
}

constexpr std::size_t pixels = 101;  // the probes around one edge lie in different pixels

/// The exact bins of `values`, frame after frame.
template <class T>
std::vector<std::uint64_t> exact_counts(const std::vector<T>& values) {
  std::vector<std::uint64_t> counts(pixels * bins);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= T{0} && static_cast<double>(values[i]) < xmax)
      ++counts[(i % pixels) * bins + exact_bin(values[i])];
  }
  return counts;
}

}  // namespace

TEST_CASE_TEMPLATE("1024 bins on [0, 16384) are exact: every pair, around every edge", Twin, PIXHIST_TWINS) {
  for_each_type_pair([]<class T, class A>() {
    auto values = probes<T>(bins, 0, xmax);
    const std::size_t frames = values.size() / pixels + 1;
    values.resize(frames * pixels);
    const auto n = static_cast<std::int64_t>(frames);
    Histogram<Twin, T, std::uint32_t, A> histogram(1, pixels, bins, 0, xmax, n);
    histogram.submit_batch(values, n);
    CAPTURE(name_of(pixel_type_of<T>()));
    CHECK_EQ(difference(histogram.values(), exact_counts(values)), "");
  });
}

TEST_CASE_TEMPLATE("every u16 there is", Twin, PIXHIST_TWINS) {
  // Pixel p sees p, p + 256, … : bin b of it gets the values v = 16 b … 16 b + 15 with v mod 256 = p.
  std::vector<std::uint16_t> values(65536);
  std::iota(values.begin(), values.end(), std::uint16_t{0});
  Histogram<Twin, std::uint16_t, std::uint32_t> histogram(16, 16, bins, 0, xmax, 255);
  histogram.fill_histogram(values, 256);
  std::vector<std::uint64_t> expected(256 * bins);
  for (std::size_t v = 0; v < 16384; ++v) ++expected[(v % 256) * bins + v / 16];
  CHECK_EQ(difference(histogram.values(), expected), "");
  CHECK_EQ(difference(histogram.above(), std::vector<int>(256, 192)), "");
}
