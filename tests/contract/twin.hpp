#pragma once
// The twins the contract is tested on. A twin names its engine, how to run it on a number of workers, and a
// Counts: PixelCounts that take batches lying in host memory.
// To test another twin, write such a struct and add it to PIXHIST_TWINS.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/accumulators/pixel_histogram/cpu_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/memory/host_memory.hpp"
#include "core/threads/worker_pool.hpp"

namespace pixhist::contract {

struct CpuTwin {
  using Engine = CpuHistogramEngine;
  static Engine::Options engine_options(unsigned workers) {
    Engine::Options options;
    options.threads = workers;
    return options;
  }

  class Counts {
   public:
    explicit Counts(HistogramSpec spec, unsigned workers = 2)
        : pool_(workers), counts_(std::move(spec), memory_, pool_) {}

    PixelCounts& get() { return counts_; }
    void accumulate(std::span<const std::byte> bytes, std::span<const FrameEntry> frames,
                    std::span<const std::uint8_t> frame_ok) {
      DecodedBatch batch;
      batch.pixels = bytes.data();
      batch.frames = frames;
      batch.frame_ok = frame_ok;
      for (const std::uint8_t ok : frame_ok) batch.good_frames += ok != 0 ? 1U : 0U;
      counts_.accumulate(batch);
    }
    /// cells: uint32 [pixels][bins + 4].
    void restore(std::span<const std::uint32_t> cells, std::uint64_t frames, std::uint64_t bound) {
      counts_.restore(cells, frames, bound);
    }

   private:
    MemoryAccount account_;
    PageableMemory memory_{account_};
    WorkerPool pool_;
    CpuPixelCounts counts_;
  };
};

}  // namespace pixhist::contract

// A program tests one twin, so that the CUDA one can skip as a whole where there is no device.
#ifdef PIXHIST_TEST_CUDA_TWIN
#include "tests/contract/cuda_twin.hpp"
#define PIXHIST_TWINS                                                                                \
  pixhist::contract::CudaTwin, pixhist::contract::CudaPlainTwin, pixhist::contract::CudaScatterTwin, \
      pixhist::contract::CudaTileTwin, pixhist::contract::CudaRangesTwin, pixhist::contract::CudaWindowTwin
#else
#define PIXHIST_TWINS pixhist::contract::CpuTwin
#endif
