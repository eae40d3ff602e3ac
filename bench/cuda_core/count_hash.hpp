#pragma once
// A hash over all counts of a histogram on the device, to compare what two kernels have made of the same
// frames where a second set of counts would not fit.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace pixhist::bench {

/// Adds a hash of (position, count) over `cells` counts to `hash` (device memory). Two sets of counts with
/// the same hash are equal but for a chance of about 2^-64.
void launch_count_hash(const std::uint32_t* counts, std::size_t cells, unsigned long long* hash,
                       cudaStream_t stream);

}  // namespace pixhist::bench
