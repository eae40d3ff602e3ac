#pragma once
// Where the pixels of a window lie among the counts of a source, and where they go in the result.

#include <cstddef>
#include <cstdint>

#include "core/model/geometry.hpp"

namespace pixhist {

struct ReadShape {
  std::size_t npix;
  std::uint32_t source_cols;
  std::uint32_t row_begin;
  std::uint32_t col_begin;
  std::uint32_t rows;
  std::uint32_t cols;
  bool flip_rows;

  ReadShape(std::size_t pixels_of_source, std::uint32_t cols_of_source, const Rect& window, bool flip)
      : npix(pixels_of_source),
        source_cols(cols_of_source),
        row_begin(window.row_begin),
        col_begin(window.col_begin),
        rows(window.rows()),
        cols(window.cols()),
        flip_rows(flip) {}

  /// Of the q-th pixel of the window in wire order: where its counts are, and where it goes in the result.
  /// Divides only where it must, and in 64 bits only where it must: that takes longer than to load a count.
  __device__ std::size_t source_pixel(std::size_t q) const {
    if (cols == source_cols) return static_cast<std::size_t>(row_begin) * source_cols + q;
    const std::size_t row = q <= 0xFFFFFFFFU ? static_cast<std::uint32_t>(q) / cols : q / cols;
    return (row_begin + row) * source_cols + col_begin + (q - row * cols);
  }
  __device__ std::size_t result_pixel(std::size_t q) const {
    if (!flip_rows) return q;
    return (rows - 1 - q / cols) * static_cast<std::size_t>(cols) + q % cols;
  }
  __host__ __device__ std::size_t pixels() const { return static_cast<std::size_t>(rows) * cols; }
};

/// Of a one-dimensional grid, which takes 2^31-1 of them.
inline unsigned blocks_for(std::size_t work, unsigned per_block) {
  return static_cast<unsigned>((work + per_block - 1) / per_block);
}

}  // namespace pixhist
