#pragma once
// Which kernel accumulates a batch. Numbers only: no CUDA here, so that it can be tested anywhere.
// docs/decisions/0005-kernels.md says why each kernel is there; docs/benchmarks.md has the measurement of
// each row on an H200.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/model/bin_index.hpp"

namespace pixhist {

/// plain: a thread a pixel, read-modify-write on the counts in device memory. The reference, and what is left
///   where cells may saturate and no other kernel can.
/// scatter: as plain, but warps share the frames and add with atomics: small batches.
/// tile: a block of pixels, all their slots as 8-bit counters in shared memory, flushed to the counts.
/// ranges: the same, a range of slots at a time; the slots of the batch are kept in shared memory between.
/// window: only the slots around each pixel's usual value in shared memory; others by atomics, and counted.
enum class FillKernel : std::uint8_t { plain, scatter, tile, ranges, window };
inline constexpr std::string_view fill_kernel_names[] = {"plain", "scatter", "tile", "ranges", "window"};
inline constexpr std::size_t fill_kernel_count = std::size(fill_kernel_names);
inline constexpr FillKernel all_fill_kernels[] = {FillKernel::plain, FillKernel::scatter, FillKernel::tile,
                                                  FillKernel::ranges, FillKernel::window};
constexpr std::string_view name_of(FillKernel k) { return fill_kernel_names[static_cast<std::size_t>(k)]; }
constexpr std::optional<FillKernel> parse_fill_kernel(std::string_view name) {
  for (const auto k : all_fill_kernels) {
    if (name_of(k) == name) return k;
  }
  return std::nullopt;
}
using BatchesOfKernel = std::array<std::uint64_t, fill_kernel_count>;

/// In words, what FillPolicy does.
constexpr std::string_view when_chosen(FillKernel kernel) {
  switch (kernel) {
    case FillKernel::plain: return "where cells may saturate and neither tile nor ranges pay";
    case FillKernel::scatter:
      return "batches of fewer than 24 frames; scattered values over more than 64 bins a frame";
    case FillKernel::tile: return "up to 508 bins, from 24 frames a batch on";
    case FillKernel::ranges: return "more bins, while more than a fifth of the values miss a window";
    case FillKernel::window: break;
  }
  return "more bins, from 24 frames a batch on";
}

/// Pixels of a block: one 32-byte row of 8-bit counters per slot, one warp's load per frame.
inline constexpr std::uint32_t tile_pixels = 32;
/// Frames between flushes: an 8-bit counter holds no more.
inline constexpr std::uint32_t tile_frames_per_flush = 255;
/// Slots of a window. 128 miss more where noise is wide, 512 cost more at the flush.
inline constexpr std::uint32_t window_slots = 256;

/// Shared memory of `slots` 8-bit counters for each pixel of a block.
constexpr std::size_t counter_bytes(std::uint32_t slots) { return std::size_t{slots} * tile_pixels; }
constexpr std::size_t tile_shared_bytes(std::uint32_t bins) { return counter_bytes(bins + flow_count); }
constexpr std::size_t window_shared_bytes(std::uint32_t bins) {
  return counter_bytes((bins < window_slots ? bins : window_slots) + flow_count);
}
/// Slots of one pass: more share a multiprocessor with 512, fewer passes are needed with 1024.
constexpr std::uint32_t slots_per_range(std::uint32_t bins) { return bins <= 1024 ? 512 : 1024; }
/// Counters of a range and the 16-bit slot of every value between two flushes.
constexpr std::size_t ranges_shared_bytes(std::uint32_t bins) {
  return counter_bytes(slots_per_range(bins)) +
         std::size_t{tile_frames_per_flush} * tile_pixels * sizeof(std::uint16_t);
}
/// 16 bits must hold every slot and one value more, which stands for "none".
inline constexpr std::uint32_t ranges_most_bins = 0xFFFF - flow_count;

struct FillShape {
  std::uint32_t bins = 0;
  std::size_t shared_bytes_per_block = 0;  // most a block may have on this device
};

/// Shared memory that `kernel` takes of a block.
constexpr std::size_t shared_bytes_of(FillKernel kernel, std::uint32_t bins) {
  switch (kernel) {
    case FillKernel::tile: return tile_shared_bytes(bins);
    case FillKernel::ranges: return ranges_shared_bytes(bins);
    case FillKernel::window: return window_shared_bytes(bins);
    case FillKernel::plain:
    case FillKernel::scatter: break;
  }
  return 0;
}

/// Whether `kernel` counts this shape right. saturating: a cell may reach 2^32-1 in this batch, which kernels
/// that add with atomics would run past.
constexpr bool kernel_can(FillKernel kernel, const FillShape& shape, bool saturating) {
  if (kernel == FillKernel::scatter || kernel == FillKernel::window) {
    if (saturating) return false;
  }
  if (kernel == FillKernel::ranges && shape.bins > ranges_most_bins) return false;
  return shared_bytes_of(kernel, shape.bins) <= shape.shared_bytes_per_block;
}

/// Chooses batch by batch. Not thread-safe; owned by the counts of one source.
class FillPolicy {
 public:
  /// One range of slots holds them all: nothing beats a tile (bins up to here).
  static constexpr std::uint32_t tile_most_bins = 512 - flow_count;
  /// Every range is zeroed and flushed whatever is in it: ranges pay up to so many bins for each frame.
  static constexpr std::uint32_t bins_per_frame = 64;
  /// The same for a tile and a window.
  static constexpr std::uint32_t least_frames = 24;
  /// A window whose values miss it more often than one in so many is slower than `ranges`.
  static constexpr std::uint64_t hits_wanted_per_miss = 4;
  /// Batches between two tries of the window while values scatter.
  static constexpr std::uint32_t batches_between_tries = 64;

  /// `pinned`: the kernel of every batch that it can count.
  explicit FillPolicy(FillShape shape, std::optional<FillKernel> pinned = std::nullopt)
      : shape_(shape), pinned_(pinned) {}

  FillKernel choose(std::uint32_t frames, bool saturating);
  /// What window batches that are done have found since the last call: values that could have missed, and
  /// those that did. With no value nothing is learnt.
  void learn(std::uint64_t values, std::uint64_t misses);
  void pin(std::optional<FillKernel> kernel) { pinned_ = kernel; }

  /// True while the window is set aside because values scatter.
  bool scattered() const { return scattered_; }

 private:
  FillKernel first_that_can(std::initializer_list<FillKernel> kernels, bool saturating) const;

  FillShape shape_;
  std::optional<FillKernel> pinned_;
  bool scattered_ = false;
  std::uint32_t until_try_ = 0;
};

}  // namespace pixhist
