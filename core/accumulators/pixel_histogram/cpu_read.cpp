#include "core/accumulators/pixel_histogram/cpu_read.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <stdexcept>
#include <string>

namespace pixhist {
namespace {

constexpr std::size_t pixels_per_tile = 256;

std::string text(const char* name, std::uint32_t begin, std::uint32_t end, std::uint32_t size) {
  return std::string(name) + " [" + std::to_string(begin) + ", " + std::to_string(end) +
         "), allowed: within [0, " + std::to_string(size) + ")";
}

void check_range(const char* name, std::uint32_t begin, std::uint32_t end, std::uint32_t size) {
  if (begin > end || end > size) throw std::invalid_argument(text(name, begin, end, size));
}

/// Caps `bins` counts into `out`, which lies in caller's memory of type Storage. Returns the cells cut.
template <class Storage>
std::uint64_t cap_bins(const std::uint32_t* counts, std::size_t bins, Storage* out) {
  if constexpr (std::is_floating_point_v<Storage>) {
    std::transform(counts, counts + bins, out, [](std::uint32_t n) { return static_cast<Storage>(n); });
    return 0;
  } else {
    constexpr std::uint32_t most = std::numeric_limits<Storage>::max();
    std::uint32_t cut = 0;  // at most max_bins
    for (std::size_t i = 0; i < bins; ++i) {
      cut += counts[i] > most ? 1U : 0U;
      out[i] = static_cast<Storage>(std::min(counts[i], most));
    }
    return cut;
  }
}

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
  const std::size_t bins = window.bins.size();
  return cap_bins(counts + window.bins.begin, bins, reinterpret_cast<Storage*>(out) + c * bins);
}

}  // namespace

void check_window(const HistogramSpec& spec, const CountWindow& window) {
  check_range("rows", window.pixels.row_begin, window.pixels.row_end, spec.shape.rows);
  check_range("cols", window.pixels.col_begin, window.pixels.col_end, spec.shape.cols);
  check_range("bins", window.bins.begin, window.bins.end, spec.axis.bins);
}

std::uint64_t read_counts(const CountRows& rows, const CountWindow& window, const CountTarget& target,
                          WorkerPool& pool) {
  const std::size_t pixels = window.pixels.pixels();
  std::atomic<std::uint64_t> cut{0};
  pool.run((pixels + pixels_per_tile - 1) / pixels_per_tile, [&](std::size_t tile) {
    const std::size_t begin = tile * pixels_per_tile;
    const std::size_t end = std::min(begin + pixels_per_tile, pixels);
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
