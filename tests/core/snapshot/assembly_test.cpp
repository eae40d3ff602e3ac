#include "core/snapshot/assembly.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace pixhist;

namespace {

/// Fills a piece as a twin would: the count of (source, wire pixel, bin) says where it comes from.
std::uint32_t signature(std::size_t source, std::uint32_t row, std::uint32_t col, std::uint32_t bin) {
  return static_cast<std::uint32_t>(source * 1'000'000 + row * 10'000 + col * 100 + bin);
}

void fill(const AssemblyPiece& piece) {
  const auto& w = piece.window;
  for (std::uint32_t r = 0; r < w.pixels.rows(); ++r) {
    auto* row = piece.target.counts + static_cast<std::ptrdiff_t>(r) * piece.target.row_stride;
    for (std::uint32_t c = 0; c < w.pixels.cols(); ++c) {
      for (std::uint32_t b = 0; b < w.bins.size(); ++b)
        reinterpret_cast<std::uint32_t*>(row)[c * w.bins.size() + b] =
            signature(piece.source, w.pixels.row_begin + r, w.pixels.col_begin + c, w.bins.begin + b);
      for (std::size_t plane = 0; plane < flow_count; ++plane)
        piece.target.flow[plane][static_cast<std::ptrdiff_t>(r) * piece.target.flow_row_stride + c] =
            signature(piece.source, w.pixels.row_begin + r, w.pixels.col_begin + c,
                      static_cast<std::uint32_t>(plane));
    }
  }
}

struct Detector {
  std::vector<PlacedSource> sources;

  /// What a detector pixel must read, found by looking through the sources pixel by pixel.
  std::uint32_t expected(std::uint32_t row, std::uint32_t col, std::uint32_t bin) const {
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto& source = sources[s];
      for (std::uint32_t r = 0; r < source.shape.rows; ++r) {
        for (std::uint32_t c = 0; c < source.shape.cols; ++c) {
          if (source.place && detector_row(source.shape, *source.place, r) == row &&
              source.place->col + c == col)
            return signature(s, r, c, bin);
        }
      }
    }
    return 0;
  }
};

/// A block as its last user left it.
HostBlock used_before(std::size_t bytes, HostMemory& memory) {
  HostBlock block = memory.allocate(bytes, Paging::on_demand);
  std::fill(block.bytes().begin(), block.bytes().end(), std::byte{0xA5});
  return block;
}

}  // namespace

TEST_CASE("every window of a detector with gaps, flips and a source of unknown place is assembled right") {
  const Detector detector{{{{3, 4}, Place{0, 0, false}},
                           {{8, 9}, std::nullopt},
                           {{3, 4}, Place{4, 1, true}},
                           {{7, 2}, Place{0, 6, true}}}};
  MemoryAccount account;
  PageableMemory memory(account);
  for (const Rect roi :
       {Rect{0, 8, 0, 9}, Rect{2, 6, 3, 7}, Rect{4, 5, 1, 2}, Rect{3, 4, 0, 6}, Rect{5, 8, 2, 9}}) {
    Snapshot snapshot;
    snapshot.window = {roi, {1, 4}, StorageType::u32};
    snapshot.counts = used_before(snapshot.window.count_bytes(), memory);
    snapshot.flow = used_before(snapshot.window.flow_bytes(), memory);
    zero_uncovered(detector.sources, {8, 9}, snapshot);
    for (const auto& piece : plan_assembly(detector.sources, snapshot)) fill(piece);
    const auto counts = snapshot.counts.as<std::uint32_t>();
    const auto flow = snapshot.flow.as<std::uint32_t>();
    std::size_t pixel = 0;
    for (std::uint32_t row = roi.row_begin; row < roi.row_end; ++row) {
      for (std::uint32_t col = roi.col_begin; col < roi.col_end; ++col, ++pixel) {
        for (std::uint32_t bin = 1; bin < 4; ++bin)
          CHECK(counts[pixel * 3 + bin - 1] == detector.expected(row, col, bin));
        for (std::uint32_t plane = 0; plane < flow_count; ++plane)
          CHECK(flow[plane * roi.pixels() + pixel] == detector.expected(row, col, plane));
      }
    }
  }
}

TEST_CASE("of a reduction the pixels of no source are zeroed, of a spectrum everything") {
  const std::vector<PlacedSource> sources{{{2, 3}, Place{0, 0, false}}, {{2, 3}, std::nullopt}};
  MemoryAccount account;
  PageableMemory memory(account);
  Snapshot image;
  image.window = {{1, 3, 1, 5}, {0, 4}, StorageType::u32};
  image.reduction = ReductionKind::sum;
  image.reduced = used_before(image.window.pixels.pixels() * sizeof(std::uint64_t), memory);
  zero_uncovered(sources, {4, 6}, image);
  const auto values = image.reduced.as<std::uint64_t>();
  for (std::uint32_t pixel = 0; pixel < values.size(); ++pixel) {
    const bool covered = pixel < 2;  // row 1, columns 1 and 2
    CHECK((values[pixel] == 0) == !covered);
  }
  Snapshot spectrum;
  spectrum.window = image.window;
  spectrum.reduction = ReductionKind::spectrum;
  spectrum.reduced = used_before(sources.size() * 4 * sizeof(std::uint64_t), memory);
  zero_uncovered(sources, {4, 6}, spectrum);
  for (const auto value : spectrum.reduced.as<std::uint64_t>()) CHECK(value == 0);
}

TEST_CASE("overlap and leaving the detector are refused with names and numbers") {
  const FrameShape detector{8, 8};
  const std::vector<PlacedSource> good{
      {{4, 8}, Place{0, 0, false}}, {{4, 8}, Place{4, 0, false}}, {{4, 8}, std::nullopt}};
  CHECK_NOTHROW(check_placement(good, detector));
  const std::vector<PlacedSource> overlapping{{{4, 8}, Place{0, 0, false}}, {{4, 8}, Place{3, 0, false}}};
  CHECK_THROWS_WITH_AS(check_placement(overlapping, detector),
                       "sources 0 and 1 overlap: rows [0, 4) cols [0, 8) and rows [3, 7) cols [0, 8)",
                       std::invalid_argument);
  const std::vector<PlacedSource> outside{{{4, 8}, Place{5, 0, false}}};
  CHECK_THROWS_WITH_AS(check_placement(outside, detector),
                       "source 0 at rows [5, 9) cols [0, 8) leaves the detector of rows [0, 8) cols [0, 8)",
                       std::invalid_argument);
  const std::vector<PlacedSource> wrapping{{{4, 8}, Place{0xFFFFFFFF, 0, false}},
                                           {{4, 8}, Place{3, 0, false}}};
  CHECK_THROWS_AS(check_placement(wrapping, detector), std::invalid_argument);
}

TEST_CASE("the pixels of no source are listed, each once, and no others") {
  const FrameShape detector{9, 11};
  const std::vector<std::vector<PlacedSource>> detectors{
      {},
      {{{9, 11}, Place{}}},
      {{{9, 11}, std::nullopt}},
      {{{2, 3}, Place{4, 5}}},
      {{{4, 11}, Place{0, 0}}, {{4, 11}, Place{5, 0}}},
      {{{9, 5}, Place{0, 6}}, {{9, 5}, Place{0, 0}}},
      {{{3, 4}, Place{0, 7}}, {{3, 4}, Place{2, 0}}, {{4, 2}, Place{5, 9}}, {{1, 1}, Place{3, 4}}},
  };
  for (const auto& sources : detectors) {
    std::vector<int> times(detector.pixels(), 0);
    const auto mark = [&](const Rect& r) {
      REQUIRE(Rect::whole(detector).contains(r));
      REQUIRE_FALSE(r.empty());
      for (auto row = r.row_begin; row < r.row_end; ++row) {
        for (auto col = r.col_begin; col < r.col_end; ++col) ++times[std::size_t{row} * detector.cols + col];
      }
    };
    for (const auto& source : sources) {
      if (source.place) mark(footprint(*source.place, source.shape));
    }
    const auto gaps = uncovered(sources, detector);
    for (const auto& gap : gaps) mark(gap);
    CHECK(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }));
    CHECK(gaps.size() <= (2 * sources.size() + 1) * (sources.size() + 1));
    CHECK(std::is_sorted(gaps.begin(), gaps.end(), [](const Rect& a, const Rect& b) {
      return std::pair(a.row_begin, a.col_begin) < std::pair(b.row_begin, b.col_begin);
    }));
  }
}
