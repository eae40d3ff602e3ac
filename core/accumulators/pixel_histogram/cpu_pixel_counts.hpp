#pragma once
// The CPU twin of the counts of one source: uint32 [pixels][bins + 4], pixel-major, filled tile by tile by a
// worker pool. Called by one thread at a time; every call has taken effect when it returns.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/accumulators/pixel_histogram/cpu_fill.hpp"
#include "core/accumulators/pixel_histogram/cpu_read.hpp"
#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/memory/host_memory.hpp"
#include "core/threads/worker_pool.hpp"

namespace pixhist {

class CpuPixelCounts final : public PixelCounts {
 public:
  /// Memory and pool are shared with other sources and outlive this object.
  /// Throws std::invalid_argument as check(spec) does, or if the counts do not fit in this machine's memory.
  CpuPixelCounts(HistogramSpec spec, HostMemory& memory, WorkerPool& pool);

  void accumulate(const DecodedBatch& batch) override;
  void zero() override;

  const HistogramSpec& spec() const override { return spec_; }
  std::unique_ptr<CountRead> begin_read(const CountWindow& window, const CountTarget& target) override;
  std::unique_ptr<CountRead> begin_reduce(const ReductionRequest& request,
                                          const ReductionTarget& target) override;
  std::uint64_t frames() const override { return frames_; }
  FlowTotals flow_totals() const override { return totals_; }
  std::uint64_t saturated_cells() override;
  std::vector<KernelRow> kernels() const override { return {{"cpu tile", "every batch", true}}; }
  std::span<const std::uint64_t> batches_of_kernel() const override { return {&batches_, 1}; }
  std::uint64_t cell_bound() const override { return bound_; }

  /// Replaces all counts by stored ones: `cells` uint32 [pixels][bins + 4] (each pixel's bins, then its four
  /// flow counters in the order of enum Flow), the frames in them and the bound of the largest cell.
  /// Throws std::invalid_argument, with the counts as before, if `cells` has another size or holds more than
  /// the bound.
  void restore(std::span<const std::uint32_t> cells, std::uint64_t frames, std::uint64_t bound);
  /// The counts as they lie in memory, in the layout restore() takes. Valid until the next call.
  std::span<const std::uint32_t> cells() const { return block_.as<std::uint32_t>(); }

 private:
  std::size_t row_cells() const { return std::size_t{spec_.axis.bins} + flow_count; }
  CountRows rows() const { return {cells().data(), spec_.shape.cols, spec_.axis.bins, row_cells()}; }
  std::size_t tiles() const { return (spec_.shape.pixels() + tile_pixels_ - 1) / tile_pixels_; }
  std::size_t pixels_of_tile(std::size_t tile) const;
  void collect_good_frames(const DecodedBatch& batch);
  template <class Fn>
  void for_each_tile(Fn&& fn);

  const HistogramSpec spec_;
  WorkerPool& pool_;
  const std::unique_ptr<const CpuFill> fill_;
  const std::size_t tile_pixels_;
  HostBlock block_;
  std::uint64_t batches_ = 0;
  // Of the batch being accumulated; kept for their capacity.
  std::vector<const std::byte*> good_frames_;
  std::vector<std::uint8_t> missing_;  // with mask_missing, for each good frame: it is not complete
  std::uint64_t frames_ = 0;
  std::uint64_t bound_ = 0;
  FlowTotals totals_;
  std::optional<std::uint64_t> saturated_;  // of the last scan; empty after anything that may change it
};

}  // namespace pixhist
