#pragma once
// The kernels that count a batch. Counts are uint32 [bins + 4][pixels] (bin-major, flow counters behind the
// bins), so neighbouring pixels in the same bin are one transaction. Kernels run in order on one stream and
// each pixel has one owner (a thread, or a block), so plain read-modify-write is safe.

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
};

namespace device {

__device__ inline std::uint32_t saturating_add(std::uint32_t cell, std::uint32_t n) {
  return cell > 0xFFFFFFFFU - n ? 0xFFFFFFFFU : cell + n;
}

template <bool Saturate>
__device__ std::uint32_t added(std::uint32_t cell, std::uint32_t n) {
  return Saturate ? saturating_add(cell, n) : cell + n;
}

template <class T>
__device__ T load_pixel(const std::byte* pixels, const FrameEntry& frame, std::size_t p) {
  return __ldg(reinterpret_cast<const T*>(pixels + frame.offset) + p);
}

/// Adds a whole warp's values to a total: one atomic a warp. All 32 lanes call it.
__device__ inline void add_total(unsigned long long* total, std::uint32_t n) {
  for (int step = 16; step > 0; step /= 2) n += __shfl_down_sync(0xFFFFFFFFU, n, step);
  if (threadIdx.x % 32 == 0 && n != 0) atomicAdd(total, static_cast<unsigned long long>(n));
}

}  // namespace device

/// One thread a pixel. Threads beyond the last pixel stay for the warp's sums.
template <class T, class A, ValueMap M, bool Saturate>
__global__ void fill_plain(FillArguments<T, A> a) {
  const std::size_t p = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  std::uint32_t flow[flow_count] = {};
  if (p < a.npix) {
    const bool masked = a.mask != nullptr && a.mask[p] != 0;
    for (std::uint32_t f = 0; f < a.frame_count; ++f) {
      if (a.frame_ok[f] == 0) continue;
      const std::uint32_t slot =
          masked ? flow_slot(a.scale.bins, Flow::invalid)
                 : value_slot<M>(device::load_pixel<T>(a.pixels, a.frames[f], p), a.scale, a.invalid);
      if (slot < a.scale.bins) {
        std::uint32_t& cell = a.counts[static_cast<std::size_t>(slot) * a.npix + p];
        cell = device::added<Saturate>(cell, 1);
      } else {
#pragma unroll
        for (std::uint32_t k = 0; k < flow_count; ++k) flow[k] += slot - a.scale.bins == k ? 1U : 0U;
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < flow_count; ++k) {
      std::uint32_t& cell = a.counts[(static_cast<std::size_t>(a.scale.bins) + k) * a.npix + p];
      if (flow[k] != 0) cell = device::added<Saturate>(cell, flow[k]);
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < flow_count; ++k) device::add_total(&a.totals->flow[k], flow[k]);
}

/// A block owns 32 pixels; each warp takes every n-th frame, a lane a pixel. Counters: byte `lane` of row
/// `slot`, four to a word, added with atomics in shared memory; never more than 255 frames between flushes,
/// so no byte runs over into its neighbour.
template <class T, class A, ValueMap M, bool Saturate>
__global__ void fill_tile(FillArguments<T, A> a) {
  extern __shared__ std::uint32_t tile[];
  constexpr std::uint32_t words_per_row = tile_pixels / 4;
  const std::uint32_t rows = a.scale.bins + flow_count;
  const std::uint32_t lane = threadIdx.x % tile_pixels;
  const std::uint32_t warp = threadIdx.x / tile_pixels;
  const std::uint32_t warps = blockDim.x / tile_pixels;
  const std::size_t p = static_cast<std::size_t>(blockIdx.x) * tile_pixels + lane;
  const bool there = p < a.npix;
  const bool masked = there && a.mask != nullptr && a.mask[p] != 0;
  const std::uint32_t one = 1U << (8 * (lane % 4));
  std::uint32_t* const column = tile + lane / 4;

  for (std::uint32_t i = threadIdx.x; i < rows * words_per_row; i += blockDim.x) tile[i] = 0;
  for (std::uint32_t begin = 0; begin < a.frame_count; begin += tile_frames_per_flush) {
    const std::uint32_t end = min(a.frame_count, begin + tile_frames_per_flush);
    __syncthreads();
#pragma unroll 4
    for (std::uint32_t f = begin + warp; f < end; f += warps) {
      if (!there || a.frame_ok[f] == 0) continue;
      const std::uint32_t slot =
          masked ? flow_slot(a.scale.bins, Flow::invalid)
                 : value_slot<M>(device::load_pixel<T>(a.pixels, a.frames[f], p), a.scale, a.invalid);
      atomicAdd(column + slot * words_per_row, one);
    }
    __syncthreads();
    for (std::uint32_t row = warp; row < rows; row += warps) {
      const std::uint32_t word = column[row * words_per_row];
      const std::uint32_t n = word >> (8 * (lane % 4)) & 0xFFU;
      if (row >= a.scale.bins) device::add_total(&a.totals->flow[row - a.scale.bins], n);
      if (n != 0) {
        std::uint32_t& cell = a.counts[static_cast<std::size_t>(row) * a.npix + p];
        cell = device::added<Saturate>(cell, n);
      }
      __syncwarp();
      if (word != 0 && lane % 4 == 0) column[row * words_per_row] = 0;
    }
  }
}

/// One warp: advances the frame counter by the good frames of the batch, in stream order with the counts.
static __global__ void count_good_frames(const std::uint8_t* frame_ok, std::uint32_t frames,
                                         CudaFillTotals* totals) {
  std::uint32_t good = 0;
  for (std::uint32_t f = threadIdx.x; f < frames; f += 32) good += frame_ok[f] != 0 ? 1U : 0U;
  device::add_total(&totals->frames, good);
}

}  // namespace pixhist
