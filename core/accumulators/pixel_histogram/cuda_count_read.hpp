#pragma once
// A read or a reduction in progress on the device: its result in the order of the answer, made in stream
// order on the compute stream so that filling goes on, then brought to the host on a stream of its own.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/accumulators/pixel_histogram/cuda_fill_launch.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"
#include "core/accumulators/pixel_histogram/cuda_reduce_launch.hpp"
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

/// Device memory for one read at a time, taken ahead. Reads that follow each other in it wait in stream
/// order, not on the host. Submit thread only; outlives the reads.
class CudaReadReserve {
 public:
  explicit CudaReadReserve(MemoryAccount& account) : account_(account) {}
  /// For reads of `bytes` at least; only while none is under way. Throws DeviceMemoryError.
  void grow(std::size_t bytes) {
    if (bytes <= buffer_.size()) return;
    buffer_ = {};
    buffer_ = DeviceBuffer(bytes, account_);
  }
  std::byte* data() const { return buffer_.data(); }
  std::size_t size() const { return buffer_.size(); }
  /// Recorded when a read has been copied out of it.
  const CudaEvent& left() const { return left_; }

 private:
  MemoryAccount& account_;
  DeviceBuffer buffer_;
  CudaEvent left_;
};

/// One array of an answer: made by kernels in device memory, its rows packed in the order of host memory,
/// then copied to host rows `stride` bytes apart; `to` is where the row goes that is first in wire order.
struct CudaReadPart {
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
  std::byte* to = nullptr;
  std::ptrdiff_t stride = 0;  // negative: rows are flipped, and `to` is the highest of them
  /// Enqueues the kernels; advances `capped` by the cells that were cut.
  std::function<void(std::byte* device, unsigned long long* capped, cudaStream_t)> launch;

  std::size_t bytes() const { return row_bytes * rows; }
};

/// The arrays of a read: bins, if any are wanted, and flow planes.
std::vector<CudaReadPart> read_parts(CudaReadKernel read, const CountTarget& target);
/// The array of a reduction.
std::vector<CudaReadPart> reduce_parts(CudaReduceKernel reduce, const ReductionTarget& target);

class CudaCountRead final : public CountRead {
 public:
  /// Enqueues everything. The targets outlive ready(); page-locked ones are written without a detour.
  /// With a reserve, device memory comes from there. Throws DeviceMemoryError, PinningRefused; with a reserve
  /// that is large enough, and a verdict in the pool, neither.
  CudaCountRead(const std::vector<CudaReadPart>& parts, const CudaFillTotals* totals,
                const CudaDeviceStreams& device, CudaVerdictPool& verdicts,
                const CudaReadReserve* reserve = nullptr);

  /// Device memory of a read of `parts`.
  static std::size_t device_bytes(const std::vector<CudaReadPart>& parts);

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
  void enqueue_kernels(const std::vector<CudaReadPart>& parts, const CudaFillTotals* totals);
  void enqueue_copies(const std::vector<CudaReadPart>& parts);

  const CudaDeviceStreams& device_;
  CudaVerdictPool& verdicts_;
  const CudaReadReserve* reserve_;
  std::optional<AsyncBuffer> own_;  // without a reserve
  std::byte* staging_ = nullptr;    // the verdict, then the parts, one behind the other
  HostBlock verdict_on_host_;
  CudaEvent copied_on_device_;
  CudaEvent on_host_;
};

}  // namespace pixhist
