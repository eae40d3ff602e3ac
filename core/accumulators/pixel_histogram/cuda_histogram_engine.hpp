#pragma once
// What PixelHistogram needs of the CUDA twin: a device, two slots and the counts of one histogram. Arguments
// have been checked by the class. submit never waits for the device if the input is registered.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"
#include "core/memory/cuda_device.hpp"
#include "core/pipeline/cuda_slots.hpp"

namespace pixhist {

class CudaHistogramEngine {
 public:
  struct Options {
    int device = 0;
    std::optional<FillKernel> kernel;  // nothing: chosen per batch
    SlotReuse reuse = SlotReuse::wait_for_kernels;
  };

  /// Throws CudaError without a usable device, DeviceMemoryError if counts and slots do not fit.
  CudaHistogramEngine(HistogramSpec spec, std::uint32_t batch_size, const Options& options);
  CudaHistogramEngine(const CudaHistogramEngine&) = delete;  // counts and slots refer to the device's streams
  CudaHistogramEngine& operator=(const CudaHistogramEngine&) = delete;
  ~CudaHistogramEngine();

  void register_input(std::span<const std::byte> bytes);
  void unregister_input();
  /// n <= batch_size contiguous frames.
  void submit(const std::byte* frames, std::size_t n);
  void flush();
  void zero() { counts_.zero(); }
  /// Waits for the result; returns the cells cut by window.dtype.
  std::uint64_t read(const CountWindow& window, const CountTarget& target);

  const HistogramSpec& spec() const { return counts_.spec(); }
  std::uint64_t frames() const { return counts_.frames(); }
  std::uint64_t saturated_cells() { return counts_.saturated_cells(); }

  // For tests and benches.
  CudaPixelCounts& counts() { return counts_; }
  const CudaSlots& slots() const { return slots_; }
  const CudaDeviceStreams& device() const { return device_; }

 private:
  MemoryAccount account_;
  CudaDeviceStreams device_;
  CudaPixelCounts counts_;
  const std::size_t frame_bytes_;
  CudaSlots slots_;
  DeviceBuffer frames_;    // batch_size contiguous frames
  DeviceBuffer frame_ok_;  // all 1
  HostRegistration registration_;
  std::uint64_t submitted_ = 0;
};

}  // namespace pixhist
