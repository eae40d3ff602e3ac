// The cap of the storage type, and cells near 2^32.
#include "tests/contract/contract_support.hpp"

using namespace pixhist;
using namespace pixhist::contract;

namespace {

constexpr std::uint32_t cell_max = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t bins = 4;
constexpr std::size_t row_cells = bins + flow_count;

/// 2 pixels, 4 bins on [0, 4).
HistogramSpec tiny_spec() {
  HistogramSpec spec;
  spec.shape = {1, 2};
  spec.pixel_type = PixelType::u16;
  spec.axis = {bins, 0, 4, AxisType::f32};
  return spec;
}

/// n frames with `first` in pixel 0 and `second` in pixel 1.
template <class Counts>
void add_frames(Counts& twin, std::size_t n, std::uint16_t first, std::uint16_t second) {
  std::vector<std::uint16_t> values;
  for (std::size_t f = 0; f < n; ++f) append<std::uint16_t>(values, {first, second});
  const RingFrames<std::uint16_t> batch(values, 2);
  twin.accumulate(batch.bytes, batch.table, batch.ok);
}

template <class Twin, class Storage>
void check_cap(const std::vector<std::uint16_t>& frames, std::int64_t n, double expected, std::uint64_t cut) {
  Histogram<Twin, std::uint16_t, Storage> histogram(1, 1, 8, 0, 8, 4096);
  histogram.fill_histogram(frames, n);
  std::vector<Storage> out(8);
  CHECK_EQ(histogram.values(out), cut);
  CHECK_EQ(static_cast<double>(out[5]), expected);
  CHECK_EQ(static_cast<double>(histogram.values_pixel(0, 0)[5]), expected);
  CHECK_EQ(histogram.frames(), static_cast<std::uint64_t>(n));
}

}  // namespace

TEST_CASE_TEMPLATE("counts are capped at the largest value of the storage type", Twin, PIXHIST_TWINS) {
  const std::int64_t n = 70000;
  const std::vector<std::uint16_t> frames(static_cast<std::size_t>(n), 5);
  check_cap<Twin, std::uint8_t>(frames, n, 255, 1);
  check_cap<Twin, std::uint16_t>(frames, n, 65535, 1);
  check_cap<Twin, std::uint32_t>(frames, n, 70000, 0);
  check_cap<Twin, float>(frames, n, 70000, 0);
  // One count short of the cap, at it and past it.
  check_cap<Twin, std::uint8_t>(std::vector<std::uint16_t>(254, 5), 254, 254, 0);
  check_cap<Twin, std::uint8_t>(std::vector<std::uint16_t>(255, 5), 255, 255, 0);
  check_cap<Twin, std::uint8_t>(std::vector<std::uint16_t>(256, 5), 256, 255, 1);
}

TEST_CASE_TEMPLATE("a cell near 2^32 stops there and is flagged", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(tiny_spec());
  std::vector<std::uint32_t> cells(2 * row_cells);
  cells[1] = cell_max - 3;    // pixel 0, bin 1
  cells[row_cells + 2] = 17;  // pixel 1, bin 2
  twin.restore(cells, cell_max - 3, cell_max - 3);
  CHECK_EQ(twin.get().frames(), cell_max - 3);
  CHECK_EQ(twin.get().cell_bound(), cell_max - 3);

  add_frames(twin, 2, 1, 2);
  CHECK_EQ(read_all<std::uint32_t>(twin.get())[1], cell_max - 1);
  CHECK_EQ(twin.get().saturated_cells(), 0);

  add_frames(twin, 10, 1, 2);
  const auto counts = read_all<std::uint32_t>(twin.get());
  CHECK_EQ(difference(counts, std::vector<std::uint64_t>{0, cell_max, 0, 0, 0, 0, 29, 0}), "");
  CHECK_EQ(twin.get().saturated_cells(), 1);
  CHECK_EQ(twin.get().cell_bound(), cell_max);
  CHECK_EQ(twin.get().frames(), std::uint64_t{cell_max} - 3 + 12);

  add_frames(twin, 300, 1, 3);
  CHECK_EQ(difference(read_all<std::uint32_t>(twin.get()),
                      std::vector<std::uint64_t>{0, cell_max, 0, 0, 0, 0, 29, 300}),
           "");
  CHECK_EQ(twin.get().saturated_cells(), 1);

  twin.get().zero();
  CHECK_EQ(twin.get().saturated_cells(), 0);
  CHECK_EQ(twin.get().cell_bound(), 0);
}

TEST_CASE_TEMPLATE("cells that saturate one after the other are all found", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(tiny_spec());
  std::vector<std::uint32_t> cells(2 * row_cells);
  cells[1] = cell_max;
  cells[row_cells + 2] = cell_max - 2;
  twin.restore(cells, cell_max, cell_max);
  CHECK_EQ(twin.get().saturated_cells(), 1);
  add_frames(twin, 1, 1, 2);
  CHECK_EQ(twin.get().saturated_cells(), 1);
  add_frames(twin, 1, 1, 2);
  CHECK_EQ(twin.get().saturated_cells(), 2);
}

TEST_CASE_TEMPLATE("a flow counter stops at 2^32-1 too", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(tiny_spec());
  std::vector<std::uint32_t> cells(2 * row_cells);
  cells[row_cells + bins + 1] = cell_max - 1;  // pixel 1, above
  twin.restore(cells, cell_max - 1, cell_max - 1);
  CHECK_EQ(twin.get().flow_totals().above, cell_max - 1);
  add_frames(twin, 5, 0, 9);
  CHECK_EQ(difference(read_flow(twin.get(), Flow::above), std::vector<std::uint64_t>{0, cell_max}), "");
  CHECK_EQ(read_all<std::uint32_t>(twin.get())[0], 5);
  CHECK_EQ(twin.get().saturated_cells(), 1);
}

TEST_CASE_TEMPLATE("plain adds up to the last frame that cannot wrap", Twin, PIXHIST_TWINS) {
  for (const std::uint32_t before : {cell_max - 5, cell_max - 4, cell_max}) {
    typename Twin::Counts twin(tiny_spec());
    std::vector<std::uint32_t> cells(2 * row_cells);
    cells[0] = before;
    twin.restore(cells, before, before);
    add_frames(twin, 5, 0, 0);
    CHECK_EQ(difference(read_all<std::uint32_t>(twin.get()),
                        std::vector<std::uint64_t>{cell_max, 0, 0, 0, 5, 0, 0, 0}),
             "");
    CHECK_EQ(twin.get().saturated_cells(), 1);
  }
}

TEST_CASE_TEMPLATE("large counts read as float are rounded, not cut", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(tiny_spec());
  std::vector<std::uint32_t> cells(2 * row_cells);
  cells[0] = 16777217;
  cells[1] = cell_max;
  twin.restore(cells, cell_max, cell_max);
  const auto counts = read_all<float>(twin.get());
  CHECK_EQ(counts[0], 16777216.0F);
  CHECK_EQ(counts[1], 4294967296.0F);
}

TEST_CASE_TEMPLATE("stored counts that cannot be are refused and change nothing", Twin, PIXHIST_TWINS) {
  typename Twin::Counts twin(tiny_spec());
  add_frames(twin, 3, 1, 2);
  std::vector<std::uint32_t> cells(2 * row_cells);
  CHECK_EQ(refusal([&] { twin.restore(std::span(cells).first(15), 0, 0); }),
           "stored counts have 15 cells, needed: 2 pixels × 8");
  cells[7] = 100;
  CHECK_EQ(refusal([&] { twin.restore(cells, 99, 99); }),
           "a stored cell holds 100, allowed: at most the bound 99 stored with it");
  CHECK_EQ(difference(read_all<std::uint32_t>(twin.get()), std::vector<int>{0, 3, 0, 0, 0, 0, 3, 0}), "");
  CHECK_EQ(twin.get().frames(), 3);
}
