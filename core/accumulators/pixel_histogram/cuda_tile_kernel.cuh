#pragma once
// The kernels that count in shared memory. A block owns 32 pixels; each warp takes every n-th frame, a lane a
// pixel. Counters: byte `lane` of row `slot`, four to a word, added with atomics in shared memory; never more
// than 255 frames between flushes, so no byte runs over into its neighbour.

#include "core/accumulators/pixel_histogram/cuda_fill_kernel.cuh"

namespace pixhist {
namespace device {

inline constexpr std::uint32_t words_per_row = tile_pixels / 4;

/// Where a thread stands in its block.
struct TileThread {
  std::uint32_t lane;
  std::uint32_t warp;
  std::uint32_t warps;
  std::size_t p;  // pixel; may lie beyond the last one

  __device__ TileThread()
      : lane(threadIdx.x % tile_pixels),
        warp(threadIdx.x / tile_pixels),
        warps(blockDim.x / tile_pixels),
        p(static_cast<std::size_t>(blockIdx.x) * tile_pixels + threadIdx.x % tile_pixels) {}
  /// Added to the word of a row, counts one for this lane.
  __device__ std::uint32_t one() const { return 1U << (8 * (lane % 4)); }
};

__device__ inline void zero_counters(std::uint32_t* counters, std::uint32_t rows) {
  for (std::uint32_t i = threadIdx.x; i < rows * words_per_row; i += blockDim.x) counters[i] = 0;
}

/// Takes this lane's count out of a row's word and zeroes the word. All lanes of the warp call it; the word
/// is this warp's alone.
__device__ inline std::uint32_t take_count(std::uint32_t& word_of_lane, std::uint32_t lane) {
  const std::uint32_t word = word_of_lane;
  __syncwarp();
  if (word != 0 && lane % 4 == 0) word_of_lane = 0;
  return word >> (8 * (lane % 4)) & 0xFFU;
}

/// Adds n to the counts. Without saturation an atomic that nobody waits for: the block owns the cell, but
/// need not read it.
template <bool Saturate, class T, class A>
__device__ void add_to_cell(const FillArguments<T, A>& a, std::uint32_t slot, std::size_t p,
                            std::uint32_t n) {
  if (n == 0) return;
  std::uint32_t& cell = cell_of(a, slot, p);
  if constexpr (Saturate)
    cell = saturating_add(cell, n);
  else
    atomicAdd(&cell, n);
}

}  // namespace device

/// All slots of the block's pixels at once.
template <class T, class A, ValueMap M, bool Saturate>
__global__ void fill_tile(FillArguments<T, A> a) {
  extern __shared__ std::uint32_t tile[];
  const device::TileThread t;
  const std::uint32_t rows = a.scale.bins + flow_count;
  const bool there = t.p < a.npix;
  const bool masked = there && device::is_masked(a, t.p);
  std::uint32_t* const column = tile + t.lane / 4;

  device::zero_counters(tile, rows);
  for (std::uint32_t begin = 0; begin < a.frame_count; begin += tile_frames_per_flush) {
    const std::uint32_t end = min(a.frame_count, begin + tile_frames_per_flush);
    __syncthreads();
#pragma unroll 4
    for (std::uint32_t f = begin + t.warp; f < end; f += t.warps) {
      if (!there || a.frame_ok[f] == 0) continue;
      const std::uint32_t slot =
          masked ? flow_slot(a.scale.bins, Flow::invalid) : device::slot_in_frame<M>(a, f, t.p);
      atomicAdd(column + slot * device::words_per_row, t.one());
    }
    __syncthreads();
    for (std::uint32_t row = t.warp; row < rows; row += t.warps) {
      const std::uint32_t n = device::take_count(column[row * device::words_per_row], t.lane);
      if (row >= a.scale.bins) device::add_total(&a.totals->flow[row - a.scale.bins], n);
      device::add_to_cell<Saturate>(a, row, t.p, n);
    }
  }
}

/// A range of slots at a time. The frames are read once: the slot of each value stays in shared memory
/// (behind the counters, 16 bits, 0xFFFF: none) while the ranges pass over it.
template <class T, class A, ValueMap M, bool Saturate>
__global__ void fill_ranges(FillArguments<T, A> a, std::uint32_t range) {
  extern __shared__ std::uint32_t tile[];
  constexpr std::uint32_t none = 0xFFFF;
  const device::TileThread t;
  const std::uint32_t slots = a.scale.bins + flow_count;
  const bool there = t.p < a.npix;
  const bool masked = there && device::is_masked(a, t.p);
  std::uint32_t* const column = tile + t.lane / 4;
  auto* const slot_of_value = reinterpret_cast<std::uint16_t*>(tile + range * device::words_per_row) + t.lane;

  device::zero_counters(tile, range);
  for (std::uint32_t begin = 0; begin < a.frame_count; begin += tile_frames_per_flush) {
    const std::uint32_t end = min(a.frame_count, begin + tile_frames_per_flush);
    // Each warp reads back only what it wrote itself.
#pragma unroll 4
    for (std::uint32_t f = begin + t.warp; f < end; f += t.warps) {
      std::uint32_t slot = none;
      if (there && a.frame_ok[f] != 0)
        slot = masked ? flow_slot(a.scale.bins, Flow::invalid) : device::slot_in_frame<M>(a, f, t.p);
      slot_of_value[(f - begin) * tile_pixels] = static_cast<std::uint16_t>(slot);
    }
    for (std::uint32_t first = 0; first < slots; first += range) {
      const std::uint32_t rows = min(range, slots - first);
      __syncthreads();
#pragma unroll 4
      for (std::uint32_t f = begin + t.warp; f < end; f += t.warps) {
        const std::uint32_t row = slot_of_value[(f - begin) * tile_pixels] - first;
        if (row < rows) atomicAdd(column + row * device::words_per_row, t.one());
      }
      __syncthreads();
#pragma unroll 4
      for (std::uint32_t row = t.warp; row < rows; row += t.warps) {
        const std::uint32_t n = device::take_count(column[row * device::words_per_row], t.lane);
        const std::uint32_t slot = first + row;
        if (slot >= a.scale.bins) device::add_total(&a.totals->flow[slot - a.scale.bins], n);
        device::add_to_cell<Saturate>(a, slot, t.p, n);
      }
    }
  }
}

namespace device {

/// First slot of this lane's window: half a window below the median of eight of the batch's frames, within
/// the axis. A frame that is not counted may be among them; it cannot do more than misplace the window.
template <ValueMap M, class T, class A>
__device__ std::uint32_t place_window(const FillArguments<T, A>& a, std::size_t p, std::uint32_t width) {
  constexpr std::uint32_t samples = 8;
  if (a.scale.bins <= width || p >= a.npix) return 0;
  std::uint32_t slot[samples];
#pragma unroll
  for (std::uint32_t i = 0; i < samples; ++i) {
    const auto frame = static_cast<std::uint32_t>(static_cast<std::uint64_t>(a.frame_count) * i / samples);
    slot[i] = slot_in_frame<M>(a, frame, p);
  }
  std::uint32_t median = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::uint32_t before = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < samples; ++j)
      before += slot[j] < slot[i] || (slot[j] == slot[i] && j < i) ? 1U : 0U;
    if (before == samples / 2 - 1) median = slot[i];
  }
  const std::uint32_t first = median > width / 2 ? median - width / 2 : 0;
  return min(first, a.scale.bins - width);
}

}  // namespace device

/// `width` slots of each pixel from a first slot of its own, and the flow counters behind them. Values
/// outside are atomics on cells that this flush does not touch.
template <class T, class A, ValueMap M>
__global__ void fill_window(FillArguments<T, A> a, std::uint32_t width) {
  extern __shared__ std::uint32_t tile[];
  __shared__ std::uint32_t first_of_lane[tile_pixels];
  const device::TileThread t;
  const std::uint32_t bins = a.scale.bins;
  const std::uint32_t rows = width + flow_count;
  const bool there = t.p < a.npix;
  const bool masked = there && device::is_masked(a, t.p);
  std::uint32_t* const column = tile + t.lane / 4;

  device::zero_counters(tile, rows);
  if (t.warp == 0) first_of_lane[t.lane] = device::place_window<M>(a, t.p, width);
  __syncthreads();
  const std::uint32_t first = first_of_lane[t.lane];
  std::uint32_t misses = 0;
  for (std::uint32_t begin = 0; begin < a.frame_count; begin += tile_frames_per_flush) {
    const std::uint32_t end = min(a.frame_count, begin + tile_frames_per_flush);
    __syncthreads();
#pragma unroll 4
    for (std::uint32_t f = begin + t.warp; f < end; f += t.warps) {
      if (!there || a.frame_ok[f] == 0) continue;
      const std::uint32_t slot =
          masked ? flow_slot(bins, Flow::invalid) : device::slot_in_frame<M>(a, f, t.p);
      const std::uint32_t row = slot >= bins ? width + (slot - bins) : slot - first;
      if (slot >= bins || row < width) {
        atomicAdd(column + row * device::words_per_row, t.one());
      } else {
        atomicAdd(&device::cell_of(a, slot, t.p), 1U);
        ++misses;
      }
    }
    __syncthreads();
    for (std::uint32_t row = t.warp; row < rows; row += t.warps) {
      const std::uint32_t n = device::take_count(column[row * device::words_per_row], t.lane);
      if (row >= width) device::add_total(&a.totals->flow[row - width], n);
      if (n == 0) continue;
      device::cell_of(a, row < width ? first + row : bins + (row - width), t.p) += n;
    }
  }
  device::add_total(&a.totals->window_misses, misses);
}

}  // namespace pixhist
