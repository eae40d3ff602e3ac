#pragma once
// A read in progress on the device: a device-side copy in the order of the answer, taken in stream order on
// the compute stream so that filling goes on, then brought to the host on a stream of its own.

#include <utility>
#include <vector>

#include "core/accumulators/pixel_histogram/cuda_fill_launch.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"
#include "core/memory/cuda_device.hpp"

namespace pixhist {

/// What comes to the host beside the counts.
struct CudaReadVerdict {
  unsigned long long capped;
  CudaFillTotals totals;
};

/// Page-locked verdicts, used again: to allocate and free page-locked memory waits for the device. Submit
/// thread only; outlives the reads.
class CudaVerdictPool {
 public:
  explicit CudaVerdictPool(PinnedMemory& pinned) : pinned_(pinned) {}
  /// Throws PinningRefused.
  HostBlock take();
  void give_back(HostBlock block) noexcept;

 private:
  PinnedMemory& pinned_;
  std::vector<HostBlock> free_;
  std::size_t made_ = 0;
};

class CudaCountRead final : public CountRead {
 public:
  /// Enqueues everything. The target outlives ready(); page-locked targets are written without a detour.
  CudaCountRead(const CudaReadKernel& read, const CountTarget& target, const CudaFillTotals* totals,
                const CudaDeviceStreams& device, CudaVerdictPool& verdicts);

  /// Waits for the copies of a read that is given up: the device memory they read goes with the object.
  ~CudaCountRead() override {
    cudaEventSynchronize(on_host_.get());
    verdicts_.give_back(std::move(verdict_on_host_));
  }

  bool ready() override;
  std::uint64_t capped() const override { return verdict().capped; }
  std::uint64_t frames() const override { return verdict().totals.frames; }

 private:
  using Verdict = CudaReadVerdict;
  const Verdict& verdict() const { return *reinterpret_cast<const Verdict*>(verdict_on_host_.data()); }
  void enqueue_kernels(CudaReadKernel read, const CountTarget& target, const CudaFillTotals* totals);
  void enqueue_copies(const CudaReadKernel& read, const CountTarget& target);

  const CudaDeviceStreams& device_;
  CudaVerdictPool& verdicts_;
  std::size_t bins_bytes_;
  std::size_t flow_bytes_;  // of one plane
  AsyncBuffer verdict_;
  AsyncBuffer staging_;  // bins, then the planes that are wanted
  HostBlock verdict_on_host_;
  CudaEvent copied_on_device_;
  CudaEvent on_host_;
};

}  // namespace pixhist
