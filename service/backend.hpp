#pragma once
// What differs between accumulating on the CPU and on a device: where memory comes from, which twin counts.

#include <memory>
#include <string>
#include <vector>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/memory/host_memory.hpp"
#include "core/pipeline/pipeline.hpp"
#include "service/config/config.hpp"

namespace pixhist {

class Backend {
 public:
  virtual ~Backend() = default;
  /// For rings and results: what the copy engine reaches without a detour.
  virtual HostMemory& host_memory() = 0;
  virtual std::unique_ptr<PixelCounts> make_counts(HistogramSpec spec) = 0;
  /// accumulators[s]: those of source s. A batch has at most batch_bytes and max_frames.
  virtual std::unique_ptr<Pipeline> make_pipeline(std::vector<std::vector<Accumulator*>> accumulators,
                                                  std::size_t batch_bytes, std::uint32_t max_frames) = 0;
  /// Threads of this process that accumulate.
  virtual std::size_t threads() const = 0;
};

/// All throw what allocation throws; the CUDA one DeviceLost if the device does not answer.
std::unique_ptr<Backend> make_cpu_backend(std::uint32_t threads, MemoryAccount& account);

/// `policy`: as Config::policy; make_counts() throws std::domain_error for a kernel that cannot count the
/// histogram. Throws std::logic_error in a build without CUDA: choose_device() does not choose it there.
std::unique_ptr<Backend> make_cuda_backend(std::uint32_t device_index, const std::string& policy,
                                           MemoryAccount& account);

}  // namespace pixhist
