#pragma once
// The core on the device: pinned memory to counts, per kernel, against the copy rate of the same run; and the
// transposition of a snapshot against a device-to-device copy.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/frames/frames.hpp"
#include "core/accumulators/pixel_histogram/launch_policy.hpp"
#include "core/model/geometry.hpp"

namespace pixhist::bench {

struct CoreCase {
  FrameShape shape;
  std::uint32_t bins = 1000;
  std::uint32_t frames = 255;  // a batch
  Distribution distribution = Distribution::uniform;
};

struct CoreRow {
  CoreCase what;
  FillKernel kernel = FillKernel::plain;
  bool chosen = false;                  // by the policy
  double copy_gigabytes_per_s = 0;      // of one batch, median
  double kernel_gigabytes_per_s = 0;    // input bytes of a batch / kernel time, median
  double pipeline_gigabytes_per_s = 0;  // submit to flush of many batches, median
};

/// Throws std::runtime_error if the kernels do not agree on every count.
std::vector<CoreRow> run_core(const CoreCase& what);

struct TransposeRow {
  FrameShape shape;
  std::uint32_t bins = 0;
  double seconds = 0;        // all bins of all pixels as u32, median
  double floor_seconds = 0;  // device-to-device copy of the same bytes, median
};
TransposeRow run_transpose(FrameShape shape, std::uint32_t bins);

/// Pinned host to device in pieces of 256 MiB: the ceiling, in GB/s (median).
double h2d_gigabytes_per_s();

}  // namespace pixhist::bench
