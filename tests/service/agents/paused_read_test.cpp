#include "service/agents/paused_read.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/model/device_error.hpp"

using namespace pixhist;

namespace {

constexpr FrameShape shape{13, 5};
constexpr std::uint32_t bins = 6;

/// Counts on a device that has room for so many cells at a time and takes a while to bring them.
class ShortOfMemory final : public PixelCounts {
 public:
  class LateRead final : public CountRead {
   public:
    explicit LateRead(std::unique_ptr<CountRead> read) : read_(std::move(read)) {}
    bool ready() override { return ++polls_ > 3 && read_->ready(); }
    std::uint64_t capped() const override { return read_->capped(); }
    std::uint64_t frames() const override { return read_->frames(); }

   private:
    std::unique_ptr<CountRead> read_;
    int polls_ = 0;
  };

  std::unique_ptr<CountRead> begin_read(const CountWindow& window, const CountTarget& target) override {
    const std::size_t cells = window.pixels.pixels() * window.cells();
    if (cells > room) throw DeviceMemoryError(cells, room);
    rows_read.push_back(window.pixels.rows());
    return std::make_unique<LateRead>(inner.begin_read(window, target));
  }
  std::unique_ptr<CountRead> begin_reduce(const ReductionRequest&, const ReductionTarget&) override {
    throw DeviceMemoryError(1, 0);
  }
  void accumulate(const DecodedBatch& batch) override { inner.accumulate(batch); }
  void zero() override { inner.zero(); }
  const HistogramSpec& spec() const override { return inner.spec(); }
  std::uint64_t frames() const override { return inner.frames(); }
  FlowTotals flow_totals() const override { return inner.flow_totals(); }
  std::uint64_t saturated_cells() override { return inner.saturated_cells(); }
  std::uint64_t cell_bound() const override { return inner.cell_bound(); }
  std::vector<KernelRow> kernels() const override { return inner.kernels(); }
  std::span<const std::uint64_t> batches_of_kernel() const override { return inner.batches_of_kernel(); }

  static HistogramSpec small_spec() {
    HistogramSpec spec;
    spec.shape = shape;
    spec.axis = {bins, 0, 6, AxisType::f32};
    return spec;
  }

  std::size_t room = 0;
  std::vector<std::uint32_t> rows_read;
  MemoryAccount account;
  PageableMemory memory{account};
  WorkerPool pool{1};
  CpuPixelCounts inner{small_spec(), memory, pool};
};

struct Answer {
  std::shared_ptr<Snapshot> snapshot = std::make_shared<Snapshot>();
  std::uint64_t capped = 0;
  std::uint64_t frames = 0;
};

Answer read_all(ShortOfMemory& counts, bool flip) {
  Answer answer;
  answer.snapshot->window = {Rect::whole(shape), {0, bins}, StorageType::u16};
  answer.snapshot->counts = counts.memory.allocate(answer.snapshot->window.count_bytes(), Paging::on_demand);
  answer.snapshot->flow = counts.memory.allocate(answer.snapshot->window.flow_bytes(), Paging::on_demand);
  const PlacedSource placed[] = {{shape, Place{0, 0, flip}}};
  for (const auto& piece : plan_assembly(placed, *answer.snapshot)) {
    const auto read = begin_part(counts, piece, true);
    while (!read->ready()) {
    }
    answer.capped += read->capped();
    answer.frames = read->frames();
  }
  return answer;
}

bool same(const HostBlock& a, const HostBlock& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

}  // namespace

TEST_CASE("a paused read in blocks of rows gives what one read gives") {
  ShortOfMemory counts;
  std::mt19937 random(1);
  std::vector<std::uint32_t> cells(shape.pixels() * (bins + flow_count));
  for (auto& cell : cells) cell = static_cast<std::uint32_t>(random() % 131072);
  counts.inner.restore(cells, 77, 131072);
  for (const bool flip : {false, true}) {
    counts.room = shape.pixels() * bins;
    counts.rows_read.clear();
    const Answer whole = read_all(counts, flip);
    CHECK(counts.rows_read == std::vector<std::uint32_t>{13});
    CHECK(whole.capped > 0);
    for (const std::uint32_t rows : {1U, 2U, 3U, 5U, 6U, 12U}) {
      CAPTURE(rows);
      counts.room = rows * shape.cols * bins + 1;
      counts.rows_read.clear();
      const Answer blocks = read_all(counts, flip);
      CHECK(counts.rows_read.size() > 1);
      CHECK(*std::max_element(counts.rows_read.begin(), counts.rows_read.end()) <= rows);
      CHECK(same(blocks.snapshot->counts, whole.snapshot->counts));
      CHECK(same(blocks.snapshot->flow, whole.snapshot->flow));
      CHECK(blocks.capped == whole.capped);
      CHECK(blocks.frames == 77);
    }
  }
}

TEST_CASE("without pause, for a reduction, or for a single row there is no way around the memory") {
  ShortOfMemory counts;
  AssemblyPiece piece;
  piece.source = 0;
  piece.window = {Rect::whole(shape), {0, bins}};
  std::vector<std::uint32_t> out(shape.pixels() * bins);
  piece.target.counts = reinterpret_cast<std::byte*>(out.data());
  piece.target.row_stride = shape.cols * bins * 4;
  counts.room = 5 * shape.cols * bins;
  CHECK_THROWS_AS(begin_part(counts, piece, false), DeviceMemoryError);
  CHECK_NOTHROW(begin_part(counts, piece, true));
  counts.room = shape.cols * bins - 1;
  CHECK_THROWS_AS(begin_part(counts, piece, true), DeviceMemoryError);
  piece.reduction = ReductionKind::sum;
  CHECK_THROWS_AS(begin_part(counts, piece, true), DeviceMemoryError);
}
