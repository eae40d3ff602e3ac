// Every argument that is refused, and what the refusal says.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

template <class H>
std::string construct(std::int64_t rows, std::int64_t cols, std::int64_t nbins, double xmin, double xmax,
                      std::int64_t batch_size, HistogramOptions options = {}) {
  return refusal([&] { H(rows, cols, nbins, xmin, xmax, batch_size, std::move(options)); });
}

HistogramOptions invalid_values(std::vector<double> values) {
  HistogramOptions options;
  options.invalid_values = std::move(values);
  return options;
}

}  // namespace

TEST_CASE_TEMPLATE("sizes", Twin, PIXHIST_TWINS) {
  using H = Histogram<Twin, std::uint16_t>;
  CHECK_EQ(construct<H>(0, 4, 8, 0, 1, 1), "rows is 0, allowed: 1 to 4294967295");
  CHECK_EQ(construct<H>(-1, 4, 8, 0, 1, 1), "rows is -1, allowed: 1 to 4294967295");
  CHECK_EQ(construct<H>(4, 0, 8, 0, 1, 1), "cols is 0, allowed: 1 to 4294967295");
  CHECK_EQ(construct<H>(4, 4294967296, 8, 0, 1, 1), "cols is 4294967296, allowed: 1 to 4294967295");
  CHECK_EQ(construct<H>(4, 4, 0, 0, 1, 1), "nbins is 0, allowed: 1 to 65536");
  CHECK_EQ(construct<H>(4, 4, -8, 0, 1, 1), "nbins is -8, allowed: 1 to 65536");
  CHECK_EQ(construct<H>(4, 4, 65537, 0, 1, 1), "nbins is 65537, allowed: 1 to 65536");
  CHECK_EQ(construct<H>(4, 4, 8, 0, 1, 0), "batch_size is 0, allowed: 1 to 2147483647");
  CHECK_EQ(construct<H>(4, 4, 8, 0, 1, -3), "batch_size is -3, allowed: 1 to 2147483647");
  CHECK_EQ(construct<H>(4294967295, 4294967295, 8, 0, 1, 1),
           "rows × cols × bins is 4294967295 × 4294967295 × 8, which overflows 63 bits in bytes");
  CHECK_EQ(construct<H>(65536, 65536, 8, 0, 1, 1),
           "rows × cols is 65536 × 65536, allowed: frames of at most 4294967295 bytes");
  CHECK_EQ(construct<H>(4, 4, 8, 0, 1, 1), "");
}

TEST_CASE_TEMPLATE("counts that exceed the memory there is", Twin, PIXHIST_TWINS) {
  const std::string message = construct<Histogram<Twin, std::uint8_t>>(60000, 60000, 65536, 0, 1, 1);
  CHECK_EQ(
      message.rfind("rows × cols × bins is 60000 × 60000 × 65536, its counts take 943776000000000 bytes", 0),
      0);
}

TEST_CASE_TEMPLATE("axis", Twin, PIXHIST_TWINS) {
  using H = Histogram<Twin, float>;
  using D = Histogram<Twin, double>;
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_EQ(construct<H>(1, 1, 8, nan, 1, 1), "xmin is nan, allowed: a number finite in the axis type");
  CHECK_EQ(construct<H>(1, 1, 8, -inf, 1, 1), "xmin is -inf, allowed: a number finite in the axis type");
  CHECK_EQ(construct<H>(1, 1, 8, 0, inf, 1), "xmax is inf, allowed: a number finite in the axis type");
  CHECK_EQ(construct<H>(1, 1, 8, 0, 1e300, 1), "xmax is 1e+300, allowed: a number finite in the axis type");
  CHECK_EQ(construct<D>(1, 1, 8, 0, 1e300, 1), "");
  CHECK_EQ(construct<H>(1, 1, 8, 5, 5, 1),
           "xmin is 5 and xmax 5, allowed: xmin < xmax after conversion to the axis type");
  CHECK_EQ(construct<H>(1, 1, 8, 6, 5, 1),
           "xmin is 6 and xmax 5, allowed: xmin < xmax after conversion to the axis type");
  // Different as double, equal as float.
  CHECK_EQ(construct<H>(1, 1, 8, 16777216, 16777217, 1),
           "xmin is 16777216 and xmax 16777217, allowed: xmin < xmax after conversion to the axis type");
  CHECK_EQ(construct<H>(1, 1, 8, -3e38, 3e38, 1), "xmax - xmin is inf, allowed: a finite, normal width");
  CHECK_EQ(construct<H>(1, 1, 8, 0, 1e-40, 1), "xmax - xmin is 1e-40, allowed: a finite, normal width");
  CHECK_EQ(construct<H>(1, 1, 65536, 0, 1.5e-38, 1),
           "bins / (xmax - xmin) is inf, allowed: a finite, normal scale");
}

TEST_CASE_TEMPLATE("invalid values and pixel mask", Twin, PIXHIST_TWINS) {
  using H = Histogram<Twin, std::uint16_t>;
  CHECK_EQ(construct<H>(2, 2, 8, 0, 8, 1, invalid_values({1, 2, 3, 4, 5})),
           "5 invalid values given, allowed: at most 4");
  CHECK_EQ(construct<H>(2, 2, 8, 0, 8, 1, invalid_values({65536})),
           "invalid value 65536 is no value of pixel type u16");
  CHECK_EQ(construct<H>(2, 2, 8, 0, 8, 1, invalid_values({-1})),
           "invalid value -1 is no value of pixel type u16");
  CHECK_EQ(construct<H>(2, 2, 8, 0, 8, 1, invalid_values({1.5})),
           "invalid value 1.5 is no value of pixel type u16");
  using F = Histogram<Twin, float>;
  CHECK_EQ(construct<F>(2, 2, 8, 0, 8, 1, invalid_values({0.1})),
           "invalid value 0.1 is no value of pixel type f32");
  HistogramOptions mask;
  mask.mask.assign(3, 0);
  CHECK_EQ(construct<H>(2, 2, 8, 0, 8, 1, mask), "the pixel mask has 3 entries, needed: rows × cols = 4");
}

TEST_CASE_TEMPLATE("frames, and a refused call changes nothing", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t> histogram(2, 3, 8, 0, 8, 4);
  const std::vector<std::uint16_t> frames(30, 1);
  const auto submit = [&](std::size_t values, std::int64_t n) {
    return refusal([&] { histogram.submit_batch(std::span(frames).first(values), n); });
  };
  const auto fill = [&](std::size_t values, std::int64_t n) {
    return refusal([&] { histogram.fill_histogram(std::span(frames).first(values), n); });
  };
  CHECK_EQ(submit(30, 5), "n_frames is 5, allowed: 0 to 4");
  CHECK_EQ(submit(6, -1), "n_frames is -1, allowed: 0 to 4");
  CHECK_EQ(submit(12, 3), "frames has 12 values, needed: shape (n_frames, rows, cols) = (3, 2, 3)");
  CHECK_EQ(submit(11, 2), "frames has 11 values, needed: shape (n_frames, rows, cols) = (2, 2, 3)");
  CHECK_EQ(submit(0, 1), "frames has 0 values, needed: shape (n_frames, rows, cols) = (1, 2, 3)");
  CHECK_EQ(fill(13, 2), "frames has 13 values, needed: shape (n_frames, rows, cols) = (2, 2, 3)");
  CHECK_EQ(fill(30, -1), "n_frames is -1, allowed: 0 to 9223372036854775807");
  CHECK_EQ(histogram.frames(), 0);
  CHECK_EQ(difference(histogram.values(), std::vector<int>(48)), "");
  CHECK_EQ(submit(24, 4), "");
  CHECK_EQ(fill(30, 5), "");
  CHECK_EQ(histogram.frames(), 9);
}

TEST_CASE_TEMPLATE("out, pixels and input buffers", Twin, PIXHIST_TWINS) {
  Histogram<Twin, std::uint16_t> histogram(2, 3, 8, 0, 8, 4);
  std::vector<std::uint16_t> out(47, 7);
  CHECK_EQ(refusal([&] { histogram.values(out); }),
           "out has 47 values, needed: shape (rows, cols, nbins) = (2, 3, 8)");
  CHECK_EQ(difference(out, std::vector<int>(47, 7)), "");
  CHECK_EQ(refusal([&] { histogram.values_pixel(2, 0); }), "row is 2, allowed: 0 to 1");
  CHECK_EQ(refusal([&] { histogram.values_pixel(-1, 0); }), "row is -1, allowed: 0 to 1");
  CHECK_EQ(refusal([&] { histogram.values_pixel(0, 3); }), "col is 3, allowed: 0 to 2");
  CHECK_EQ(refusal([&] { histogram.register_input_buffer(nullptr, 8); }),
           "ptr is null, allowed: the first byte of the buffer");
  CHECK_EQ(refusal([&] { histogram.register_input_buffer(out.data(), 0); }),
           "bytes is 0, allowed: at least 1");
}

TEST_CASE_TEMPLATE("neither copied nor moved", Twin, PIXHIST_TWINS) {
  using H = Histogram<Twin, std::uint16_t>;
  static_assert(!std::is_copy_constructible_v<H> && !std::is_move_constructible_v<H>);
  static_assert(!std::is_copy_assignable_v<H> && !std::is_move_assignable_v<H>);
  static_assert(std::is_same_v<DefaultAxis<std::uint32_t>, double> &&
                std::is_same_v<DefaultAxis<float>, float>);
  CHECK_FALSE(std::is_move_constructible_v<typename Twin::Engine>);
}
