#pragma once
// What PixelHistogram needs of the CPU twin: memory, workers and counts of one histogram. Arguments have been
// checked by the class. One caller at a time; every call has taken effect when it returns.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/memory/host_memory.hpp"
#include "core/threads/worker_pool.hpp"

namespace pixhist {

class CpuHistogramEngine {
 public:
  struct Options {
    unsigned threads = 0;  // with the caller; 0: one per CPU this process may run on
  };

  /// Throws std::invalid_argument if the counts do not fit in this machine's memory.
  CpuHistogramEngine(HistogramSpec spec, std::uint32_t batch_size, const Options& options);
  CpuHistogramEngine(const CpuHistogramEngine&) = delete;  // the counts refer to memory and workers
  CpuHistogramEngine& operator=(const CpuHistogramEngine&) = delete;

  /// Nothing to lock: the workers read the caller's memory where it lies.
  void register_input(std::span<const std::byte>) {}
  void unregister_input() {}
  /// n <= batch_size contiguous frames.
  void submit(const std::byte* frames, std::size_t n);
  void flush() {}
  void zero() { counts_.zero(); }
  /// Waits for the result; returns the cells cut by window.dtype.
  std::uint64_t read(const CountWindow& window, const CountTarget& target);

  const HistogramSpec& spec() const { return counts_.spec(); }
  std::uint64_t frames() const { return counts_.frames(); }
  std::uint64_t saturated_cells() { return counts_.saturated_cells(); }

 private:
  MemoryAccount account_;
  PageableMemory memory_{account_};
  WorkerPool pool_;
  CpuPixelCounts counts_;
  std::vector<FrameEntry> frames_;      // batch_size contiguous frames
  std::vector<std::uint8_t> frame_ok_;  // all 1
};

}  // namespace pixhist
