#pragma once
// Sources placed side by side: which part of which source goes where in a window of the detector.

#include <cstddef>
#include <span>
#include <vector>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/model/geometry.hpp"
#include "core/snapshot/snapshot.hpp"

namespace pixhist {

struct PlacedSource {
  FrameShape shape;
  Place place;
};

/// The detector pixel of a source pixel (wire order), and back.
constexpr std::uint32_t detector_row(const PlacedSource& s, std::uint32_t row) {
  return s.place.row + (s.place.flip_rows ? s.shape.rows - 1 - row : row);
}

/// One source's share of a window: read `window` of its counts into `target`.
struct AssemblyPiece {
  std::size_t source;
  CountWindow window;
  CountTarget target;
};

/// The pieces that fill `snapshot` (its blocks are allocated and zeroed).
std::vector<AssemblyPiece> plan_assembly(std::span<const PlacedSource> sources, const Snapshot& snapshot);

/// Throws std::invalid_argument naming both sources and rectangles if two overlap, or one that leaves the
/// detector.
void check_placement(std::span<const PlacedSource> sources, FrameShape detector);

}  // namespace pixhist
