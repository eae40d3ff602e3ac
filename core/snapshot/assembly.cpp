#include "core/snapshot/assembly.hpp"

#include <stdexcept>
#include <string>

namespace pixhist {
namespace {

std::string text(const Rect& r) {
  return "rows [" + std::to_string(r.row_begin) + ", " + std::to_string(r.row_end) + ") cols [" +
         std::to_string(r.col_begin) + ", " + std::to_string(r.col_end) + ")";
}

/// The source's own pixels (wire order) under `part`, a rectangle of the detector inside its footprint.
Rect wire_rect(const PlacedSource& source, const Rect& part) {
  Rect local{part.row_begin - source.place.row, part.row_end - source.place.row,
             part.col_begin - source.place.col, part.col_end - source.place.col};
  if (source.place.flip_rows) {
    const auto rows = source.shape.rows;
    local = {rows - local.row_end, rows - local.row_begin, local.col_begin, local.col_end};
  }
  return local;
}

AssemblyPiece make_piece(std::size_t index, const PlacedSource& source, const Rect& part,
                         const Snapshot& snapshot) {
  const auto& window = snapshot.window;
  const bool flip = source.place.flip_rows;
  // The wire's first row goes to the lowest detector row of the part, or to its highest if rows are flipped.
  const std::uint32_t first_row = flip ? part.row_end - 1 : part.row_begin;
  const std::size_t corner = std::size_t{first_row - window.pixels.row_begin} * window.pixels.cols() +
                             (part.col_begin - window.pixels.col_begin);
  const std::size_t pixel_bytes = window.bins.size() * size_of(window.dtype);
  const auto cols = static_cast<std::ptrdiff_t>(window.pixels.cols());

  AssemblyPiece piece{index, {wire_rect(source, part), window.bins, window.dtype}, {}};
  if (snapshot.counts.size() != 0) {
    piece.target.counts = snapshot.counts.data() + corner * pixel_bytes;
    piece.target.row_stride = (flip ? -cols : cols) * static_cast<std::ptrdiff_t>(pixel_bytes);
  }
  if (snapshot.flow.size() != 0) {
    for (std::size_t plane = 0; plane < flow_count; ++plane)
      piece.target.flow[plane] =
          snapshot.flow.as<std::uint32_t>().data() + plane * window.pixels.pixels() + corner;
    piece.target.flow_row_stride = flip ? -cols : cols;
  }
  return piece;
}

}  // namespace

std::vector<AssemblyPiece> plan_assembly(std::span<const PlacedSource> sources, const Snapshot& snapshot) {
  std::vector<AssemblyPiece> pieces;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Rect part = intersection(footprint(sources[i].place, sources[i].shape), snapshot.window.pixels);
    if (!part.empty()) pieces.push_back(make_piece(i, sources[i], part, snapshot));
  }
  return pieces;
}

void check_placement(std::span<const PlacedSource> sources, FrameShape detector) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& s = sources[i];
    if (std::uint64_t{s.place.row} + s.shape.rows > detector.rows ||
        std::uint64_t{s.place.col} + s.shape.cols > detector.cols)
      throw std::invalid_argument("source " + std::to_string(i) + " of shape [" +
                                  std::to_string(s.shape.rows) + ", " + std::to_string(s.shape.cols) +
                                  "] at [" + std::to_string(s.place.row) + ", " +
                                  std::to_string(s.place.col) + "] leaves the detector of shape [" +
                                  std::to_string(detector.rows) + ", " + std::to_string(detector.cols) + "]");
    for (std::size_t j = 0; j < i; ++j) {
      const Rect a = footprint(sources[j].place, sources[j].shape);
      const Rect b = footprint(s.place, s.shape);
      if (!intersection(a, b).empty())
        throw std::invalid_argument("sources " + std::to_string(j) + " and " + std::to_string(i) +
                                    " overlap: " + text(a) + " and " + text(b));
    }
  }
}

}  // namespace pixhist
