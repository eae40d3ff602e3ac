#pragma once
// What every fill kernel shares, and the two that count straight into device memory. Counts are uint32
// [bins + 4][pixels] (bin-major, flow counters behind the bins), so neighbouring pixels in the same bin are
// one transaction. Kernels run in order on one stream and each pixel has one owner (a thread, or a block).

#include <cstdint>

#include "core/accumulators/pixel_histogram/cuda_fill_launch.hpp"
#include "core/accumulators/pixel_histogram/launch_policy.hpp"
#include "core/model/value_slot.hpp"

namespace pixhist {

/// Everything a kernel reads of a batch and writes to. Device pointers.
template <class T, class A>
struct FillArguments {
  const std::byte* pixels;
  const FrameEntry* frames;
  const std::uint8_t* frame_ok;
  std::uint32_t frame_count;
  std::uint32_t* counts;
  std::size_t npix;
  const std::uint8_t* mask;  // null: no pixel is masked
  CudaFillTotals* totals;
  BinScale<A> scale;
  InvalidValues<T> invalid;
  bool mask_missing;
};

namespace device {

__device__ inline std::uint32_t saturating_add(std::uint32_t cell, std::uint32_t n) {
  return cell > 0xFFFFFFFFU - n ? 0xFFFFFFFFU : cell + n;
}

template <bool Saturate>
__device__ std::uint32_t added(std::uint32_t cell, std::uint32_t n) {
  return Saturate ? saturating_add(cell, n) : cell + n;
}

/// Slot of pixel p in frame f, the pixel mask left to the caller.
template <ValueMap M, class T, class A>
__device__ std::uint32_t slot_in_frame(const FillArguments<T, A>& a, std::uint32_t f, std::size_t p) {
  const T raw = __ldg(reinterpret_cast<const T*>(a.pixels + a.frames[f].offset) + p);
  const bool missing = a.mask_missing && (a.frames[f].flags & frame_flags::complete) == 0;
  if (missing && is_missing_fill(raw)) return flow_slot(a.scale.bins, Flow::invalid);
  return value_slot<M>(raw, a.scale, a.invalid);
}

template <class T, class A>
__device__ bool is_masked(const FillArguments<T, A>& a, std::size_t p) {
  return a.mask != nullptr && a.mask[p] != 0;
}

template <class T, class A>
__device__ std::uint32_t& cell_of(const FillArguments<T, A>& a, std::uint32_t slot, std::size_t p) {
  return a.counts[static_cast<std::size_t>(slot) * a.npix + p];
}

/// Adds a whole warp's values to a total: one atomic a warp. All 32 lanes call it.
__device__ inline void add_total(unsigned long long* total, std::uint32_t n) {
  for (int step = 16; step > 0; step /= 2) n += __shfl_down_sync(0xFFFFFFFFU, n, step);
  if (threadIdx.x % 32 == 0 && n != 0) atomicAdd(total, static_cast<unsigned long long>(n));
}

/// Flow counters of one thread's pixel, kept in registers until its frames are done.
struct FlowCounts {
  std::uint32_t n[flow_count] = {};

  __device__ void add(std::uint32_t flow) {
#pragma unroll
    for (std::uint32_t k = 0; k < flow_count; ++k) n[k] += flow == k ? 1U : 0U;
  }
  /// All lanes of the warp call it.
  __device__ void add_totals(CudaFillTotals* totals) const {
#pragma unroll
    for (std::uint32_t k = 0; k < flow_count; ++k) add_total(&totals->flow[k], n[k]);
  }
};

}  // namespace device

/// One thread a pixel. Threads beyond the last pixel stay for the warp's sums.
template <class T, class A, ValueMap M, bool Saturate>
__global__ void fill_plain(FillArguments<T, A> a) {
  const std::size_t p = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  device::FlowCounts flow;
  if (p < a.npix) {
    const bool masked = device::is_masked(a, p);
    for (std::uint32_t f = 0; f < a.frame_count; ++f) {
      if (a.frame_ok[f] == 0) continue;
      const std::uint32_t slot =
          masked ? flow_slot(a.scale.bins, Flow::invalid) : device::slot_in_frame<M>(a, f, p);
      if (slot < a.scale.bins) {
        std::uint32_t& cell = device::cell_of(a, slot, p);
        cell = device::added<Saturate>(cell, 1);
      } else {
        flow.add(slot - a.scale.bins);
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < flow_count; ++k) {
      std::uint32_t& cell = device::cell_of(a, a.scale.bins + k, p);
      if (flow.n[k] != 0) cell = device::added<Saturate>(cell, flow.n[k]);
    }
  }
  flow.add_totals(a.totals);
}

/// A block owns 32 pixels; each warp takes every n-th frame, a lane a pixel. Every value is an atomic that
/// nobody waits for.
template <class T, class A, ValueMap M>
__global__ void fill_scatter(FillArguments<T, A> a) {
  const std::uint32_t warp = threadIdx.x / tile_pixels;
  const std::uint32_t warps = blockDim.x / tile_pixels;
  const std::size_t p = static_cast<std::size_t>(blockIdx.x) * tile_pixels + threadIdx.x % tile_pixels;
  device::FlowCounts flow;
  if (p < a.npix) {
    const bool masked = device::is_masked(a, p);
#pragma unroll 8
    for (std::uint32_t f = warp; f < a.frame_count; f += warps) {
      if (a.frame_ok[f] == 0) continue;
      const std::uint32_t slot =
          masked ? flow_slot(a.scale.bins, Flow::invalid) : device::slot_in_frame<M>(a, f, p);
      if (slot < a.scale.bins)
        atomicAdd(&device::cell_of(a, slot, p), 1U);
      else
        flow.add(slot - a.scale.bins);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < flow_count; ++k) {
      if (flow.n[k] != 0) atomicAdd(&device::cell_of(a, a.scale.bins + k, p), flow.n[k]);
    }
  }
  flow.add_totals(a.totals);
}

/// One warp: advances the frame counter by the good frames of the batch, in stream order with the counts, and
/// for a window the values that could have missed it.
static __global__ void count_good_frames(const std::uint8_t* frame_ok, std::uint32_t frames,
                                         std::size_t window_pixels, CudaFillTotals* totals) {
  std::uint32_t good = 0;
  for (std::uint32_t f = threadIdx.x; f < frames; f += 32) good += frame_ok[f] != 0 ? 1U : 0U;
  for (int step = 16; step > 0; step /= 2) good += __shfl_down_sync(0xFFFFFFFFU, good, step);
  if (threadIdx.x != 0) return;
  totals->frames += good;
  totals->window_values += good * static_cast<unsigned long long>(window_pixels);
}

}  // namespace pixhist
