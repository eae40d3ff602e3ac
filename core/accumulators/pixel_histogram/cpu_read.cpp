#include "core/accumulators/pixel_histogram/cpu_read.hpp"

#include <algorithm>
#include <atomic>

#include "core/accumulators/pixel_histogram/cap_counts.hpp"

namespace pixhist {
namespace {

constexpr std::size_t read_tile_pixels = 256;

template <class Storage>
std::uint64_t read_pixel(const CountRows& rows, const CountWindow& window, const CountTarget& target,
                         std::size_t i) {
  const std::size_t r = i / window.pixels.cols();
  const std::size_t c = i % window.pixels.cols();
  const std::uint32_t* counts =
      rows.row((window.pixels.row_begin + r) * rows.cols + window.pixels.col_begin + c);
  const auto row = static_cast<std::ptrdiff_t>(r);
  for (std::size_t k = 0; k < flow_count; ++k) {
    if (target.flow[k] != nullptr)
      target.flow[k][row * target.flow_row_stride + static_cast<std::ptrdiff_t>(c)] = counts[rows.bins + k];
  }
  if (target.counts == nullptr) return 0;
  std::byte* out = target.counts + row * target.row_stride;
  const std::size_t n = window.cells();
  return cap_counts(counts + window.bins.begin, n, window.rebin, reinterpret_cast<Storage*>(out) + c * n);
}

}  // namespace

std::uint64_t read_counts(const CountRows& rows, const CountWindow& window, const CountTarget& target,
                          WorkerPool& pool) {
  const std::size_t pixels = window.pixels.pixels();
  std::atomic<std::uint64_t> cut{0};
  pool.run((pixels + read_tile_pixels - 1) / read_tile_pixels, [&](std::size_t tile) {
    const std::size_t begin = tile * read_tile_pixels;
    const std::size_t end = std::min(begin + read_tile_pixels, pixels);
    const auto n = visit_storage_type(window.dtype, [&]<class Storage>(TypeTag<Storage>) {
      std::uint64_t sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum += read_pixel<Storage>(rows, window, target, i);
      return sum;
    });
    cut.fetch_add(n, std::memory_order_relaxed);
  });
  return cut.load();
}

}  // namespace pixhist
