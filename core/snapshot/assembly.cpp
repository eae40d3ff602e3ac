#include "core/snapshot/assembly.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace pixhist {
namespace {

std::string interval(std::uint64_t begin, std::uint64_t size) {
  return "[" + std::to_string(begin) + ", " + std::to_string(begin + size) + ")";
}

/// The source's own pixels (wire order) under `part`, a rectangle of the detector inside its footprint.
Rect wire_rect(FrameShape shape, const Place& place, const Rect& part) {
  Rect local{part.row_begin - place.row, part.row_end - place.row, part.col_begin - place.col,
             part.col_end - place.col};
  if (place.flip_rows) {
    const auto rows = shape.rows;
    local = {rows - local.row_end, rows - local.row_begin, local.col_begin, local.col_end};
  }
  return local;
}

AssemblyPiece make_piece(std::size_t index, FrameShape shape, const Place& place, const Rect& part,
                         const Snapshot& snapshot) {
  const auto& window = snapshot.window;
  const bool flip = place.flip_rows;
  // The wire's first row goes to the lowest detector row of the part, or to its highest if rows are flipped.
  const std::uint32_t first_row = flip ? part.row_end - 1 : part.row_begin;
  const std::size_t corner = std::size_t{first_row - window.pixels.row_begin} * window.pixels.cols() +
                             (part.col_begin - window.pixels.col_begin);
  const std::size_t pixel_bytes = window.cells() * size_of(window.dtype);
  const auto cols = static_cast<std::ptrdiff_t>(window.pixels.cols());

  AssemblyPiece piece;
  piece.source = index;
  piece.window = {wire_rect(shape, place, part), window.bins, window.dtype, window.rebin};
  if (snapshot.reduction) {
    const std::size_t bytes = value_bytes(*snapshot.reduction);
    const bool spectrum = *snapshot.reduction == ReductionKind::spectrum;
    piece.reduction = snapshot.reduction;
    piece.reduced.values = snapshot.reduced.data() + bytes * (spectrum ? index * window.bins.size() : corner);
    piece.reduced.row_stride = (flip ? -cols : cols) * static_cast<std::ptrdiff_t>(bytes);
    return piece;
  }
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

void zero(std::span<std::byte> bytes) { std::fill(bytes.begin(), bytes.end(), std::byte{0}); }

/// In an array of the pixels of `window`, which may be empty: zeroes those of `part`.
void zero_pixels(std::span<std::byte> array, std::size_t pixel_bytes, const Rect& window, const Rect& part) {
  for (std::uint32_t row = part.row_begin; row < part.row_end && !array.empty(); ++row) {
    const std::size_t first =
        std::size_t{row - window.row_begin} * window.cols() + (part.col_begin - window.col_begin);
    zero(array.subspan(first * pixel_bytes, part.cols() * pixel_bytes));
  }
}

}  // namespace

std::vector<AssemblyPiece> plan_assembly(std::span<const PlacedSource> sources, const Snapshot& snapshot) {
  std::vector<AssemblyPiece> pieces;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& [shape, place] = sources[i];
    if (!place) continue;
    const Rect part = intersection(footprint(*place, shape), snapshot.window.pixels);
    if (!part.empty()) pieces.push_back(make_piece(i, shape, *place, part, snapshot));
  }
  return pieces;
}

void zero_uncovered(std::span<const PlacedSource> sources, FrameShape detector, const Snapshot& snapshot) {
  const Rect& window = snapshot.window.pixels;
  if (snapshot.reduction == ReductionKind::spectrum) return zero(snapshot.reduced.bytes());
  for (const Rect& gap : uncovered(sources, detector)) {
    const Rect part = intersection(gap, window);
    if (part.empty()) continue;
    if (snapshot.reduction)
      zero_pixels(snapshot.reduced.bytes(), value_bytes(*snapshot.reduction), window, part);
    zero_pixels(snapshot.counts.bytes(), snapshot.window.cells() * size_of(snapshot.window.dtype), window,
                part);
    for (std::size_t plane = 0; plane < flow_count && snapshot.flow.size() != 0; ++plane) {
      const std::size_t bytes = snapshot.flow.size() / flow_count;
      zero_pixels(snapshot.flow.bytes().subspan(plane * bytes, bytes), sizeof(std::uint32_t), window, part);
    }
  }
}

std::unique_ptr<CountRead> begin_piece(PixelCounts& counts, const AssemblyPiece& piece) {
  if (!piece.reduction) return counts.begin_read(piece.window, piece.target);
  return counts.begin_reduce({*piece.reduction, piece.window.pixels, piece.window.bins}, piece.reduced);
}

AssemblyPiece rows_of(const AssemblyPiece& piece, std::uint32_t begin, std::uint32_t end) {
  AssemblyPiece part = piece;
  part.window.pixels.row_begin = piece.window.pixels.row_begin + begin;
  part.window.pixels.row_end = piece.window.pixels.row_begin + end;
  if (part.target.counts != nullptr) part.target.counts += piece.target.row_stride * begin;
  for (auto& plane : part.target.flow) {
    if (plane != nullptr) plane += piece.target.flow_row_stride * begin;
  }
  return part;
}

std::string footprint_text(FrameShape shape, const Place& place) {
  return "rows " + interval(place.row, shape.rows) + " cols " + interval(place.col, shape.cols);
}

std::optional<PlacementFault> placement_fault(std::span<const PlacedSource> sources, std::size_t index,
                                              FrameShape detector) {
  const auto inside = [&](const PlacedSource& s) {  // in 64 bits: a header may say any place
    return std::uint64_t{s.place->row} + s.shape.rows <= detector.rows &&
           std::uint64_t{s.place->col} + s.shape.cols <= detector.cols;
  };
  const auto& source = sources[index];
  if (!source.place) return std::nullopt;
  if (!inside(source)) return PlacementFault{};
  const Rect mine = footprint(*source.place, source.shape);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto& other = sources[i];
    if (i == index || !other.place || !inside(other)) continue;
    if (!intersection(mine, footprint(*other.place, other.shape)).empty()) return PlacementFault{i};
  }
  return std::nullopt;
}

std::vector<Rect> uncovered(std::span<const PlacedSource> sources, FrameShape detector) {
  std::vector<Rect> covered;
  std::vector<std::uint32_t> cuts{0, detector.rows};
  for (const auto& [shape, place] : sources) {
    if (!place) continue;
    covered.push_back(footprint(*place, shape));
    cuts.insert(cuts.end(), {covered.back().row_begin, covered.back().row_end});
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::sort(covered.begin(), covered.end(),
            [](const Rect& a, const Rect& b) { return a.col_begin < b.col_begin; });
  std::vector<Rect> gaps;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {  // between two cuts all rows are alike
    std::uint32_t col = 0;
    const auto gap_until = [&](std::uint32_t end) {
      if (col < end) gaps.push_back({cuts[i], cuts[i + 1], col, end});
    };
    for (const auto& rect : covered) {
      if (rect.row_begin > cuts[i] || rect.row_end < cuts[i + 1]) continue;
      gap_until(rect.col_begin);
      col = rect.col_end;
    }
    gap_until(detector.cols);
  }
  return gaps;
}

void check_placement(std::span<const PlacedSource> sources, FrameShape detector) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto fault = placement_fault(sources, i, detector);
    if (!fault) continue;
    const std::string mine = footprint_text(sources[i].shape, *sources[i].place);
    if (!fault->overlaps)
      throw std::invalid_argument("source " + std::to_string(i) + " at " + mine + " leaves the detector of " +
                                  footprint_text(detector, {}));
    const auto& other = sources[*fault->overlaps];
    throw std::invalid_argument("sources " + std::to_string(i) + " and " + std::to_string(*fault->overlaps) +
                                " overlap: " + mine + " and " + footprint_text(other.shape, *other.place));
  }
}

}  // namespace pixhist
