#pragma once
// Launches the kernels that reduce bin-major counts. No kernel here.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"

namespace pixhist {

/// Device pointers. Rows of the result are in the order of memory: `flip_rows` puts the request's first row
/// last.
struct CudaReduceKernel {
  const std::uint32_t* counts = nullptr;  // uint32 [bins + 4][pixels]
  std::size_t npix = 0;
  std::uint32_t cols = 0;  // of the source
  ReductionRequest request;
  bool flip_rows = false;
};

/// out: value_bytes(kind) for each bin (spectrum) or pixel of the request, of which there is at least one.
void launch_reduce(const CudaReduceKernel& reduce, std::byte* out, cudaStream_t stream);

}  // namespace pixhist
