#pragma once
// The inner loops of the CPU twin: one tile of pixels through all frames of a batch. Counts lie pixel-major,
// uint32 [pixel][bins + flow_count], slots as in core/model/bin_index.hpp, so a value is one ++row[slot].

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/model/histogram_spec.hpp"

namespace pixhist {

/// Most pixels of a tile: its slots lie on the worker's stack (8 KiB).
inline constexpr std::size_t max_tile_pixels = 1024;

/// A tile and what goes into it. Borrows everything.
struct TileFill {
  std::span<const std::byte* const> frames;  // first pixel of each good frame, aligned for the pixel type
  std::span<const std::uint8_t> missing;  // empty, or non-zero for each frame whose fill values are invalid
  std::size_t first_pixel = 0;
  std::size_t pixels = 0;              // 1 … max_tile_pixels
  std::uint32_t* cells = nullptr;      // row of the tile's first pixel
  const std::uint8_t* mask = nullptr;  // of the tile's first pixel; null: no pixel mask
  bool saturating = false;             // cells stay at 2^32-1; false only where none can get past it
};

/// The fill of one (pixel type, axis type, value map), chosen once at start. Stateless between calls.
class CpuFill {
 public:
  virtual ~CpuFill() = default;
  /// Adds every pixel of the tile in every frame; returns what went to the flow counters.
  virtual FlowTotals fill(const TileFill& tile) const = 0;
};

/// For a spec that has passed check().
std::unique_ptr<const CpuFill> make_cpu_fill(const HistogramSpec& spec);

}  // namespace pixhist
