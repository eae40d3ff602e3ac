#pragma once

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/model/device_error.hpp"
#include "core/time/clock.hpp"

namespace pixhist::test {

/// Counts on a device that has room for so many cells at a time. A read is ready at the fourth look, a
/// millisecond of `clock` each.
class ShortOfMemory final : public PixelCounts {
 public:
  static constexpr FrameShape shape{13, 5};
  static constexpr std::uint32_t bins = 6;

  class LateRead final : public CountRead {
   public:
    LateRead(std::unique_ptr<CountRead> read, ManualClock& clock) : read_(std::move(read)), clock_(clock) {}
    bool ready() override {
      clock_.advance(std::chrono::milliseconds(1));
      return ++polls_ > 3 && read_->ready();
    }
    std::uint64_t capped() const override { return read_->capped(); }
    std::uint64_t frames() const override { return read_->frames(); }

   private:
    std::unique_ptr<CountRead> read_;
    ManualClock& clock_;
    int polls_ = 0;
  };

  std::unique_ptr<CountRead> begin_read(const CountWindow& window, const CountTarget& target) override {
    const std::size_t cells = window.pixels.pixels() * window.cells();
    if (cells > room) throw DeviceMemoryError(cells, room);
    rows_read.push_back(window.pixels.rows());
    return std::make_unique<LateRead>(inner.begin_read(window, target), clock);
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

  /// 77 frames of anything.
  void fill() {
    std::mt19937 random(1);
    std::vector<std::uint32_t> cells(shape.pixels() * (bins + flow_count));
    for (auto& cell : cells) cell = static_cast<std::uint32_t>(random() % 131072);
    inner.restore(cells, 77, 131072);
  }

  std::size_t room = 0;
  std::vector<std::uint32_t> rows_read;
  ManualClock clock;
  MemoryAccount account;
  PageableMemory memory{account};
  WorkerPool pool{1};
  CpuPixelCounts inner{small_spec(), memory, pool};
};

}  // namespace pixhist::test
