#pragma once
// Launches the kernels that bring counts from bin-major into the order answers have. No kernel here.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"

namespace pixhist {

/// Device pointers. Rows of the result are in the order of memory: `flip_rows` puts the window's first row
/// last.
struct CudaReadKernel {
  const std::uint32_t* counts = nullptr;  // uint32 [bins + 4][pixels]
  std::size_t npix = 0;
  std::uint32_t cols = 0;  // of the source
  std::uint32_t bins = 0;  // of the axis
  CountWindow window;
  bool flip_rows = false;
};

/// out: [rows][cols][window cells()] of window.dtype. `capped` is advanced by the cells the type cut.
void launch_read_bins(const CudaReadKernel& read, std::byte* out, unsigned long long* capped,
                      cudaStream_t stream);

/// out: one plane [rows][cols] of uint32 of a flow counter.
void launch_read_flow(const CudaReadKernel& read, Flow flow, std::uint32_t* out, cudaStream_t stream);

/// `saturated` is advanced by the cells of all counts that have reached 2^32-1.
void launch_count_saturated(const std::uint32_t* counts, std::size_t cells, unsigned long long* saturated,
                            cudaStream_t stream);

}  // namespace pixhist
