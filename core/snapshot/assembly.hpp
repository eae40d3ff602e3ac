#pragma once
// Sources placed side by side: which part of which source goes where in a window of the detector.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/model/geometry.hpp"
#include "core/snapshot/snapshot.hpp"

namespace pixhist {

struct PlacedSource {
  FrameShape shape;
  std::optional<Place> place;  // nothing: not known yet; the source then covers no pixel
};

/// The detector row of a row of a source (wire order) that lies at `place`.
constexpr std::uint32_t detector_row(FrameShape shape, const Place& place, std::uint32_t row) {
  return place.row + (place.flip_rows ? shape.rows - 1 - row : row);
}

/// One source's share of a window: read `window` of its counts into `target`, or reduce it into `reduced`.
struct AssemblyPiece {
  std::size_t source;
  CountWindow window;
  CountTarget target;
  std::optional<ReductionKind> reduction;
  ReductionTarget reduced;
};

/// The pieces that fill `snapshot` (its blocks are allocated), but for what zero_uncovered() zeroes.
std::vector<AssemblyPiece> plan_assembly(std::span<const PlacedSource> sources, const Snapshot& snapshot);

/// Zeroes the pixels of no source in the blocks of `snapshot`; of a spectrum, which has no pixels,
/// everything.
void zero_uncovered(std::span<const PlacedSource> sources, FrameShape detector, const Snapshot& snapshot);

/// Begins what the piece says, on the counts of its source. Throws what begin_read() throws.
std::unique_ptr<CountRead> begin_piece(PixelCounts& counts, const AssemblyPiece& piece);

/// Of a piece that is read: its rows [begin, end), counted in wire order from its first.
AssemblyPiece rows_of(const AssemblyPiece& piece, std::uint32_t begin, std::uint32_t end);

/// What is wrong with where a source lies.
struct PlacementFault {
  std::optional<std::size_t> overlaps;  // that source; nothing: it leaves the detector
};

/// The first fault of source `index` beside all others; nothing if it lies well, or nowhere yet.
std::optional<PlacementFault> placement_fault(std::span<const PlacedSource> sources, std::size_t index,
                                              FrameShape detector);

/// "rows [0, 512) cols [0, 1024)", for a place that may leave the detector.
std::string footprint_text(FrameShape shape, const Place& place);

/// The pixels of no source, as disjoint rectangles in C order of their first pixels. The sources have no
/// placement_fault(). At most (2n + 1)(n + 1) rectangles for n sources.
std::vector<Rect> uncovered(std::span<const PlacedSource> sources, FrameShape detector);

/// Throws std::invalid_argument naming both sources and rectangles if two overlap, or one that leaves the
/// detector.
void check_placement(std::span<const PlacedSource> sources, FrameShape detector);

}  // namespace pixhist
