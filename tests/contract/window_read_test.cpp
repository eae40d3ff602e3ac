// Reading windows, alone: counts are set to bin × npix + p, so every cell says where it came from.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

constexpr std::uint32_t rows = 37;
constexpr std::uint32_t cols = 53;
constexpr std::uint32_t pixels = rows * cols;
constexpr std::uint32_t bins = 45;  // the largest count, 45 × 1961 - 1, is past 65535
constexpr std::uint32_t flow_mark = 1U << 24;

HistogramSpec spec() {
  HistogramSpec s;
  s.shape = {rows, cols};
  s.pixel_type = PixelType::u16;
  s.axis = {bins, 0, 45, AxisType::f32};
  return s;
}

/// count = bin × npix + p; flow counter k: (k + 1) × 2^24 + p.
std::vector<std::uint32_t> pattern() {
  std::vector<std::uint32_t> cells;
  for (std::uint32_t p = 0; p < pixels; ++p) {
    for (std::uint32_t b = 0; b < bins; ++b) cells.push_back(b * pixels + p);
    for (std::uint32_t k = 0; k < flow_count; ++k) cells.push_back((k + 1) * flow_mark + p);
  }
  return cells;
}

constexpr CountWindow windows[] = {
    {{0, rows, 0, cols}, {0, bins}, StorageType::u32}, {{0, 1, 0, 1}, {0, 1}, StorageType::u32},
    {{36, 37, 52, 53}, {44, 45}, StorageType::u32},    {{5, 30, 7, 52}, {3, 41}, StorageType::u32},
    {{0, 37, 52, 53}, {0, bins}, StorageType::u32},    {{20, 21, 0, cols}, {10, 11}, StorageType::u32},
    {{4, 4, 0, 5}, {0, 3}, StorageType::u32},          {{1, 3, 1, 4}, {7, 7}, StorageType::u32}};

/// Every cell of `window` read into a larger area, rows up or down; what lies around stays untouched.
template <class Storage>
void check_window_read(PixelCounts& counts, CountWindow window, bool flip) {
  window.dtype = storage_type_of<Storage>();
  const std::size_t height = window.pixels.rows();
  const std::size_t width = window.pixels.cols();
  const std::size_t n = window.bins.size();
  const std::size_t stride = width * n + 3;  // elements
  const Storage untouched{77};
  std::vector<Storage> out(height * stride + 2, untouched);
  const std::size_t first_row = flip && height > 0 ? height - 1 : 0;
  CountTarget target;
  target.counts = reinterpret_cast<std::byte*>(out.data() + 1 + first_row * stride);
  target.row_stride = static_cast<std::ptrdiff_t>(stride * sizeof(Storage)) * (flip ? -1 : 1);
  const std::uint64_t cut = read_now(counts, window, target);

  std::vector<Storage> expected(out.size(), untouched);
  std::uint64_t expected_cut = 0;
  for (std::size_t r = 0; r < height; ++r) {
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t pixel = (window.pixels.row_begin + r) * cols + window.pixels.col_begin + c;
      for (std::size_t b = 0; b < n; ++b) {
        const std::uint64_t count = (window.bins.begin + b) * pixels + pixel;
        const std::size_t row = flip ? height - 1 - r : r;
        expected[1 + row * stride + c * n + b] = capped<Storage>(count);
        if constexpr (std::numeric_limits<Storage>::is_integer)
          expected_cut += count > std::numeric_limits<Storage>::max() ? 1U : 0U;
      }
    }
  }
  CHECK_EQ(difference(out, expected), "");
  CHECK_EQ(cut, expected_cut);
}

}  // namespace

TEST_CASE_TEMPLATE("windows of pixels and bins, flipped or not, in every storage type", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(spec());
  twin.restore(pattern(), 5 * flow_mark, 5 * flow_mark);
  for (const CountWindow& window : windows) {
    for (const bool flip : {false, true}) {
      CAPTURE(window.pixels.row_begin);
      CAPTURE(flip);
      for_each_storage([&]<class Storage>() { check_window_read<Storage>(twin.get(), window, flip); });
    }
  }
}

TEST_CASE_TEMPLATE("flow planes of a window, flipped or not, without bins", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(spec());
  twin.restore(pattern(), 5 * flow_mark, 5 * flow_mark);
  const CountWindow window{{2, 9, 11, 24}, {0, 1}, StorageType::u32};
  const std::size_t height = 7;
  const std::size_t width = 13;
  for (const bool flip : {false, true}) {
    std::vector<std::vector<std::uint32_t>> planes(flow_count, std::vector<std::uint32_t>(height * width, 7));
    CountTarget target;
    target.flow_row_stride = static_cast<std::ptrdiff_t>(width) * (flip ? -1 : 1);
    for (const std::size_t k : {std::size_t{0}, std::size_t{2}, std::size_t{3}})
      target.flow[k] = planes[k].data() + (flip ? (height - 1) * width : 0);
    CHECK_EQ(read_now(twin.get(), window, target), 0);
    CHECK_EQ(difference(planes[1], std::vector<int>(height * width, 7)), "");
    for (const std::size_t k : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
      std::vector<std::uint32_t> expected;
      for (std::size_t i = 0; i < height * width; ++i) {
        const std::size_t r = flip ? height - 1 - i / width : i / width;
        expected.push_back(static_cast<std::uint32_t>((k + 1) * flow_mark + (2 + r) * cols + 11 + i % width));
      }
      CHECK_EQ(difference(planes[k], expected), "");
    }
  }
}

TEST_CASE_TEMPLATE("the pattern counted frame by frame reads the same", Twin, PIXHIST_TWINS) {
  // 2 × 3 pixels, 4 bins: every pixel gets bin × 6 + p values in each bin, the rest lies above.
  constexpr std::size_t npix = 6;
  std::vector<std::vector<std::uint16_t>> todo(npix);
  for (std::size_t p = 0; p < npix; ++p) {
    for (std::size_t b = 0; b < 4; ++b)
      todo[p].insert(todo[p].end(), b * npix + p, static_cast<std::uint16_t>(b));
    todo[p].resize(100, 9);
  }
  std::vector<std::uint16_t> frames;
  for (std::size_t f = 0; f < 100; ++f) {
    for (std::size_t p = 0; p < npix; ++p) frames.push_back(todo[p][f]);
  }
  Histogram<Twin, std::uint16_t, std::uint8_t> histogram(2, 3, 4, 0, 4, 255);
  histogram.submit_batch(frames, 100);
  std::vector<std::size_t> expected;
  for (std::size_t p = 0; p < npix; ++p) {
    for (std::size_t b = 0; b < 4; ++b) expected.push_back(b * npix + p);
  }
  CHECK_EQ(difference(histogram.values(), expected), "");
}

TEST_CASE_TEMPLATE("a window that leaves the counts is refused", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(spec());
  const auto read = [&](const CountWindow& window) {
    return refusal([&] { twin.get().begin_read(window, {}); });
  };
  CHECK_EQ(read({{0, 38, 0, 1}, {0, 1}, StorageType::u32}), "rows [0, 38), allowed: within [0, 37)");
  CHECK_EQ(read({{0, 1, 9, 54}, {0, 1}, StorageType::u32}), "cols [9, 54), allowed: within [0, 53)");
  CHECK_EQ(read({{0, 1, 0, 1}, {46, 46}, StorageType::u32}), "bins [46, 46), allowed: within [0, 45)");
  CHECK_EQ(read({{3, 2, 0, 1}, {0, 1}, StorageType::u32}), "rows [3, 2), allowed: within [0, 37)");
}
