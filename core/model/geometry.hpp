#pragma once
// Shapes and places. A source is one module; a detector is sources placed side by side.
// All intervals are half-open; all indices that can exceed 2^32 are 64-bit.

#include <cstddef>
#include <cstdint>

namespace pixhist {

/// Rows and columns of a frame (C order; pixel p = row * cols + col).
struct FrameShape {
  std::uint32_t rows = 0;
  std::uint32_t cols = 0;
  constexpr std::size_t pixels() const { return std::size_t{rows} * cols; }
  friend constexpr bool operator==(const FrameShape&, const FrameShape&) = default;
};

/// Rectangle [row_begin, row_end) × [col_begin, col_end).
struct Rect {
  std::uint32_t row_begin = 0;
  std::uint32_t row_end = 0;
  std::uint32_t col_begin = 0;
  std::uint32_t col_end = 0;
  constexpr std::uint32_t rows() const { return row_end - row_begin; }
  constexpr std::uint32_t cols() const { return col_end - col_begin; }
  constexpr std::size_t pixels() const { return std::size_t{rows()} * cols(); }
  constexpr bool empty() const { return row_begin >= row_end || col_begin >= col_end; }
  constexpr bool contains(const Rect& r) const {
    return row_begin <= r.row_begin && r.row_end <= row_end && col_begin <= r.col_begin &&
           r.col_end <= col_end;
  }
  static constexpr Rect whole(FrameShape s) { return {0, s.rows, 0, s.cols}; }
  friend constexpr bool operator==(const Rect&, const Rect&) = default;
};

constexpr Rect intersection(const Rect& a, const Rect& b) {
  const auto max = [](std::uint32_t x, std::uint32_t y) { return x > y ? x : y; };
  const auto min = [](std::uint32_t x, std::uint32_t y) { return x < y ? x : y; };
  return {max(a.row_begin, b.row_begin), min(a.row_end, b.row_end), max(a.col_begin, b.col_begin),
          min(a.col_end, b.col_end)};
}

/// Bins [begin, end).
struct BinRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  constexpr std::uint32_t size() const { return end - begin; }
  constexpr bool contains(const BinRange& r) const { return begin <= r.begin && r.end <= end; }
  friend constexpr bool operator==(const BinRange&, const BinRange&) = default;
};

/// Where a source lies in the detector: origin of its first pixel, and whether its rows run upwards.
/// Applied only when a snapshot is assembled; accumulators keep wire order.
struct Place {
  std::uint32_t row = 0;
  std::uint32_t col = 0;
  bool flip_rows = false;
  friend constexpr bool operator==(const Place&, const Place&) = default;
};

constexpr Rect footprint(const Place& place, FrameShape shape) {
  return {place.row, place.row + shape.rows, place.col, place.col + shape.cols};
}

constexpr std::size_t align16(std::size_t bytes) { return (bytes + 15) & ~std::size_t{15}; }

}  // namespace pixhist
