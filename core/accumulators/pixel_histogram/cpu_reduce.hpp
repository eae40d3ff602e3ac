#pragma once
// Reductions of pixel-major counts on the host: of the CPU twin, and of cuts held in host memory.

#include "core/accumulators/pixel_histogram/cpu_read.hpp"
#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/threads/worker_pool.hpp"

namespace pixhist {

/// Bin 0 of `rows` is bin `first_bin` of the axis, which the request counts by.
void reduce_counts(const CountRows& rows, const ReductionRequest& request, const ReductionTarget& target,
                   WorkerPool& pool, std::uint32_t first_bin = 0);

}  // namespace pixhist
