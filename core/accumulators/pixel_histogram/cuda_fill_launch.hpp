#pragma once
// Launches the fill kernels of one histogram. No kernel here: host code includes it without nvcc.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/accumulators/accumulator.hpp"
#include "core/accumulators/pixel_histogram/launch_policy.hpp"
#include "core/model/histogram_spec.hpp"

namespace pixhist {

/// On the device, advanced in stream order with the counts; since the last zero().
struct CudaFillTotals {
  unsigned long long frames;            // good frames
  unsigned long long flow[flow_count];  // sums over pixels, as enum Flow
  unsigned long long window_values;     // values that `window` kernels looked at, and of these
  unsigned long long window_misses;     // those that lay outside
};

struct CudaFill {
  DecodedBatch batch;  // device pointers
  std::uint32_t* counts = nullptr;
  const std::uint8_t* mask = nullptr;
  CudaFillTotals* totals = nullptr;
  bool saturating = false;
};

/// The kernels for one combination of pixel type, axis type and value map.
class CudaFiller {
 public:
  virtual ~CudaFiller() = default;
  /// Enqueues on `stream`. `kernel` is one that kernel_can(). Throws CudaError.
  virtual void launch(const CudaFill& fill, FillKernel kernel, cudaStream_t stream) const = 0;
};

/// Throws std::invalid_argument for a combination check(spec) refuses, CudaError if the device cannot be
/// asked.
std::unique_ptr<const CudaFiller> make_cuda_filler(const HistogramSpec& spec);

/// Most shared memory a block may have on the current device.
std::size_t shared_bytes_per_block();

}  // namespace pixhist
