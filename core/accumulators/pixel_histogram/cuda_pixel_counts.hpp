#pragma once
// The CUDA twin of the counts of one source: uint32 [bins + 4][pixels] in device memory, filled and read in
// stream order. Called by one thread at a time; nothing but drain-like calls (saturated_cells in the rare
// regime, restore) waits for the device. Throws CudaError when it fails.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/accumulators/pixel_histogram/cuda_count_read.hpp"
#include "core/accumulators/pixel_histogram/cuda_fill_launch.hpp"
#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/memory/cuda_device.hpp"

namespace pixhist {

class CudaPixelCounts final : public PixelCounts {
 public:
  /// `device` and `account` outlive this object. Throws std::invalid_argument as check(spec) does,
  /// DeviceMemoryError if the counts do not fit.
  CudaPixelCounts(HistogramSpec spec, const CudaDeviceStreams& device, MemoryAccount& account);

  void accumulate(const DecodedBatch& batch) override;
  void zero() override;

  const HistogramSpec& spec() const override { return spec_; }
  /// Throws DeviceMemoryError if there is no room for a device-side copy of the window.
  std::unique_ptr<CountRead> begin_read(const CountWindow& window, const CountTarget& target) override;
  /// Throws DeviceMemoryError if there is no room for the result.
  std::unique_ptr<CountRead> begin_reduce(const ReductionRequest& request,
                                          const ReductionTarget& target) override;
  void reserve_read() override;
  std::unique_ptr<CountRead> begin_reserved_read(const CountWindow& window,
                                                 const CountTarget& target) override;
  /// Where reserve_read() takes device memory; sources of one device share it.
  void share_reserve(std::shared_ptr<CudaReadReserve> reserve) { reserve_ = std::move(reserve); }
  /// Good frames submitted since zero; raw frames cannot fail on the device.
  std::uint64_t frames() const override { return frames_; }
  /// Of the batches that are done.
  FlowTotals flow_totals() const override;
  std::uint64_t saturated_cells() override;
  std::uint64_t cell_bound() const override { return bound_; }

  /// As CpuPixelCounts::restore: `cells` uint32 [pixels][bins + 4]. Waits for the device.
  void restore(std::span<const std::uint32_t> cells, std::uint64_t frames, std::uint64_t bound);
  /// The kernel of every batch that it can count; nothing: FillPolicy chooses. Throws std::domain_error,
  /// saying what is allowed, for a kernel that cannot count this shape on this device at all.
  void pin_kernel(std::optional<FillKernel> kernel);
  /// uint32 [bins + 4][pixels] in device memory, valid in stream order.
  const std::uint32_t* cells_on_device() const { return counts_.data<const std::uint32_t>(); }
  std::vector<KernelRow> kernels() const override;
  /// By index of FillKernel.
  std::span<const std::uint64_t> batches_of_kernel() const override { return batches_of_kernel_; }

 private:
  CudaReadKernel read_kernel(const CountWindow& window) const;
  void learn_from_window();
  std::unique_ptr<CountRead> begin(const std::vector<CudaReadPart>& parts);
  CudaFillTotals* totals_on_host() const {
    return totals_on_host_.as<CudaFillTotals>().data() + current_totals_;
  }
  void copy_totals_to_host();

  const HistogramSpec spec_;
  const CudaDeviceStreams& device_;
  PinnedMemory pinned_;
  CudaVerdictPool verdicts_{pinned_};
  std::shared_ptr<CudaReadReserve> reserve_;
  CudaVerdictPool reserved_verdicts_{pinned_};  // the one of the reserved read
  const std::unique_ptr<const CudaFiller> filler_;
  const FillShape shape_;
  FillPolicy policy_;
  DeviceBuffer counts_;
  DeviceBuffer mask_;
  DeviceBuffer totals_;
  // Two CudaFillTotals, written by the copy engine after each batch: one for the time since the last zero(),
  // the other still belongs to batches enqueued before it.
  HostBlock totals_on_host_;
  std::size_t current_totals_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t bound_ = 0;
  std::optional<std::uint64_t> saturated_;  // of the last scan; empty after anything that may change it
  std::uint64_t window_values_seen_ = 0;    // of the totals on the host that the policy has learnt from
  std::uint64_t window_misses_seen_ = 0;
  BatchesOfKernel batches_of_kernel_{};
};

}  // namespace pixhist
