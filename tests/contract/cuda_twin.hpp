#pragma once
// The CUDA twin under the contract: as the policy chooses, and each kernel pinned.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "core/accumulators/pixel_histogram/cuda_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"
#include "core/memory/cuda_device.hpp"

namespace pixhist::contract {

/// An engine with one kernel for everything the kernel can do; what it cannot (a tile that does not fit,
/// cells that may saturate) is the policy's.
template <FillKernel Kernel>
class PinnedEngine : public CudaHistogramEngine {
 public:
  PinnedEngine(HistogramSpec spec, std::uint32_t batch_size, const Options& options)
      : CudaHistogramEngine(std::move(spec), batch_size, options) {
    if (kernel_can(Kernel, {this->spec().axis.bins, shared_bytes_per_block()}, false))
      counts().pin_kernel(Kernel);
  }
};

/// Kernel: nothing where the policy chooses.
template <class EngineType, FillKernel... Kernel>
struct CudaTwinOf {
  using Engine = EngineType;
  /// The device has no workers to number.
  static typename Engine::Options engine_options(unsigned) { return {}; }

  class Counts {
   public:
    explicit Counts(HistogramSpec spec, unsigned = 0)
        : device_(0), counts_(std::move(spec), device_, account_) {
      const FillShape shape{counts_.spec().axis.bins, shared_bytes_per_block()};
      for (const FillKernel kernel : std::initializer_list<FillKernel>{Kernel...}) {
        if (kernel_can(kernel, shape, false)) counts_.pin_kernel(kernel);
      }
    }

    PixelCounts& get() { return counts_; }
    void accumulate(std::span<const std::byte> bytes, std::span<const FrameEntry> frames,
                    std::span<const std::uint8_t> frame_ok) {
      if (frames.empty()) return;
      const DeviceBuffer pixels = upload(bytes);
      const DeviceBuffer table = upload(std::as_bytes(frames));
      const DeviceBuffer ok = upload(std::as_bytes(frame_ok));
      DecodedBatch batch;
      batch.pixels = pixels.data();
      batch.frames = {table.data<const FrameEntry>(), frames.size()};
      batch.frame_ok = {ok.data<const std::uint8_t>(), frame_ok.size()};
      for (const std::uint8_t good : frame_ok) batch.good_frames += good != 0 ? 1U : 0U;
      counts_.accumulate(batch);
      device_.compute().synchronize();
    }
    void restore(std::span<const std::uint32_t> cells, std::uint64_t frames, std::uint64_t bound) {
      counts_.restore(cells, frames, bound);
    }

   private:
    DeviceBuffer upload(std::span<const std::byte> bytes) {
      DeviceBuffer buffer(bytes.size(), account_);
      PIXHIST_CUDA_CHECK(cudaMemcpyAsync(buffer.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice,
                                         device_.compute().get()));
      return buffer;
    }

    MemoryAccount account_;
    CudaDeviceStreams device_;
    CudaPixelCounts counts_;
  };
};

using CudaTwin = CudaTwinOf<CudaHistogramEngine>;
template <FillKernel Kernel>
using CudaPinnedTwin = CudaTwinOf<PinnedEngine<Kernel>, Kernel>;
using CudaPlainTwin = CudaPinnedTwin<FillKernel::plain>;
using CudaScatterTwin = CudaPinnedTwin<FillKernel::scatter>;
using CudaTileTwin = CudaPinnedTwin<FillKernel::tile>;
using CudaRangesTwin = CudaPinnedTwin<FillKernel::ranges>;
using CudaWindowTwin = CudaPinnedTwin<FillKernel::window>;

}  // namespace pixhist::contract
