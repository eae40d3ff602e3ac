#pragma once
// The core on the device: pinned memory to counts as the policy chooses, against the copy rate measured right
// before; each kernel by itself; and the transposition of a snapshot against a device-to-device copy.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/frames/frames.hpp"
#include "core/accumulators/pixel_histogram/launch_policy.hpp"
#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"

namespace pixhist::bench {

struct CoreCase {
  FrameShape shape;
  std::uint32_t bins = 1000;
  std::uint32_t frames = 255;  // a batch
  PixelType pixel = PixelType::u16;
  Distribution distribution = Distribution::uniform;
  std::size_t sources = 1;  // that take turns, batch by batch, in one pipeline
};

/// All rates in GB/s of frames, medians.
struct CoreRow {
  CoreCase what;
  double h2d = 0;                                  // pinned host to device, the ceiling
  double pipeline = 0;                             // submit to flush of many batches, policy `auto`
  std::array<double, fill_kernel_count> kernel{};  // bytes of a batch / kernel time; 0: not run
  BatchesOfKernel batches{};                       // that the policy gave to each kernel
};

/// pipeline_only: all sources of the case; the kernels are looked at with one.
enum class CoreParts { everything, kernels_only, pipeline_only };

/// Throws std::runtime_error if a kernel or the policy does not leave the counts that `plain` leaves;
/// DeviceMemoryError if the counts do not fit.
CoreRow run_core(const CoreCase& what, CoreParts parts);

struct TransposeRow {
  FrameShape shape;
  std::uint32_t bins = 0;
  double seconds = 0;        // all bins of all pixels as u32, median
  double floor_seconds = 0;  // device-to-device copy of the same bytes, median
};
TransposeRow run_transpose(FrameShape shape, std::uint32_t bins);

/// A reduction of all counts, against the time it takes to read them (half of a device-to-device copy).
struct ReduceRow {
  FrameShape shape;
  std::uint32_t bins = 0;
  ReductionKind kind = ReductionKind::sum;
  double seconds = 0;
  double floor_seconds = 0;
};
ReduceRow run_reduce(FrameShape shape, std::uint32_t bins, ReductionKind kind);

/// Pinned host to device in pieces of `piece` bytes, one behind the other: the ceiling of batches of that
/// size, in GB/s (median).
double h2d_gigabytes_per_s(std::size_t piece);

/// Device to pinned host, `bytes` in one piece, median.
double d2h_seconds(std::size_t bytes);

}  // namespace pixhist::bench
