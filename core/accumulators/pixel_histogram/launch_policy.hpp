#pragma once
// Which kernel accumulates a batch. Numbers only: no CUDA here, so that it can be tested anywhere.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/model/bin_index.hpp"

namespace pixhist {

/// plain: one thread a pixel, read-modify-write on the counts in device memory.
/// tile: a block of pixels with 8-bit counters in shared memory, flushed to the counts.
enum class FillKernel : std::uint8_t { plain, tile };
constexpr std::string_view name_of(FillKernel k) { return k == FillKernel::plain ? "plain" : "tile"; }

/// Pixels of a tile: one 32-byte row of 8-bit counters per slot, one warp's load per frame.
inline constexpr std::uint32_t tile_pixels = 32;
/// Frames between flushes: an 8-bit counter holds no more.
inline constexpr std::uint32_t tile_frames_per_flush = 255;

/// Shared memory of one tile: a byte for each of its pixels' slots.
constexpr std::size_t tile_shared_bytes(std::uint32_t bins) {
  return (std::size_t{bins} + flow_count) * tile_pixels;
}

struct PolicyInput {
  std::uint32_t bins = 0;
  std::uint32_t frames = 0;                // of the batch
  std::size_t shared_bytes_per_block = 0;  // most a block may have on this device
};

/// Flushing touches every used cell once more, so a tile pays from some frames per batch on. At 4096 bins a block
/// takes 128 KiB and few share a multiprocessor: still faster than plain. More bins were not measured
/// (H200: docs/benchmarks.md).
inline constexpr std::uint32_t tile_least_frames = 16;
inline constexpr std::uint32_t tile_most_bins = 4096;

constexpr FillKernel choose_kernel(const PolicyInput& in) {
  const bool fits = tile_shared_bytes(in.bins) <= in.shared_bytes_per_block;
  const bool pays = in.frames >= tile_least_frames && in.bins <= tile_most_bins;
  return fits && pays ? FillKernel::tile : FillKernel::plain;
}

}  // namespace pixhist
