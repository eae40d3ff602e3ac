#include "core/accumulators/pixel_histogram/cpu_reduce.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/model/value_axis.hpp"

namespace pixhist {
namespace {

static_assert(max_bins == 65536, "the bounds in reduction.hpp");

constexpr std::size_t reduce_tile_pixels = 256;

using Bins = std::span<const std::uint32_t>;  // those asked for, of one pixel

std::uint64_t sum_of(Bins counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

PixelMoments moments_of(Bins counts, std::uint32_t first_bin) {
  PixelMoments moments;
  for (std::size_t begin = 0; begin < counts.size(); begin += RunMoments::longest) {
    const Bins run_counts =
        counts.subspan(begin, std::min<std::size_t>(RunMoments::longest, counts.size() - begin));
    RunMoments run;
    std::uint32_t j = 0;
    for (const std::uint32_t count : run_counts) run.add(j++, count);
    moments.add(first_bin + static_cast<std::uint32_t>(begin), run);
  }
  return moments;
}

/// Index among `counts`, plus 1; 0: all are empty.
FoundBin median_of(Bins counts) {
  const std::uint64_t wanted = median_count(sum_of(counts));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts.size() && wanted > 0; ++i) {
    seen += counts[i];
    if (seen >= wanted) return static_cast<FoundBin>(i + 1);
  }
  return 0;
}

FoundBin mode_of(Bins counts) {
  const auto fullest = std::max_element(counts.begin(), counts.end());
  return fullest == counts.end() || *fullest == 0 ? 0 : static_cast<FoundBin>(fullest - counts.begin() + 1);
}

FoundBin max_of(Bins counts) {
  const auto last = std::find_if(counts.rbegin(), counts.rend(), [](std::uint32_t c) { return c != 0; });
  return static_cast<FoundBin>(counts.rend() - last);
}

template <class Value>
void put(std::byte* to, const Value& value) {
  std::memcpy(to, &value, sizeof value);
}

void reduce_pixel(ReductionKind kind, Bins counts, std::uint32_t first_bin, std::byte* to) {
  const auto put_bin = [&](FoundBin found) { put(to, found == 0 ? found : found + first_bin); };
  switch (kind) {
    case ReductionKind::sum: return put(to, sum_of(counts));
    case ReductionKind::moments: return put(to, moments_of(counts, first_bin));
    case ReductionKind::median: return put_bin(median_of(counts));
    case ReductionKind::mode: return put_bin(mode_of(counts));
    case ReductionKind::max: return put_bin(max_of(counts));
    case ReductionKind::spectrum: break;  // has a value per bin
  }
}

/// The pixels of the request in C order, and their bins.
struct Requested {
  const CountRows& rows;
  const ReductionRequest& request;
  std::uint32_t first_bin;

  Bins bins(std::size_t pixel) const {
    const Rect& r = request.pixels;
    const std::size_t row = r.row_begin + pixel / r.cols();
    const std::size_t col = r.col_begin + pixel % r.cols();
    return {rows.row(row * rows.cols + col) + (request.bins.begin - first_bin), request.bins.size()};
  }
};

/// Each thread sums a share of the pixels into bins of its own.
void reduce_to_spectrum(const Requested& requested, std::byte* values, WorkerPool& pool) {
  const std::size_t pixels = requested.request.pixels.pixels();
  const std::size_t bins = requested.request.bins.size();
  const std::size_t shares = std::clamp<std::size_t>(pixels / reduce_tile_pixels, 1, pool.threads());
  std::vector<std::uint64_t> sums(shares * bins);
  pool.run(shares, [&](std::size_t share) {
    std::uint64_t* const sum = sums.data() + share * bins;
    for (std::size_t p = pixels * share / shares; p < pixels * (share + 1) / shares; ++p) {
      const Bins counts = requested.bins(p);
      for (std::size_t b = 0; b < bins; ++b) sum[b] += counts[b];
    }
  });
  for (std::size_t share = 1; share < shares; ++share) {
    for (std::size_t b = 0; b < bins; ++b) sums[b] += sums[share * bins + b];
  }
  if (bins != 0) std::memcpy(values, sums.data(), bins * sizeof(std::uint64_t));
}

}  // namespace

void reduce_counts(const CountRows& rows, const ReductionRequest& request, const ReductionTarget& target,
                   WorkerPool& pool, std::uint32_t first_bin) {
  const Requested requested{rows, request, first_bin};
  if (request.kind == ReductionKind::spectrum) return reduce_to_spectrum(requested, target.values, pool);
  const std::size_t pixels = request.pixels.pixels();
  const std::size_t cols = request.pixels.cols();
  pool.run((pixels + reduce_tile_pixels - 1) / reduce_tile_pixels, [&](std::size_t tile) {
    const std::size_t end = std::min((tile + 1) * reduce_tile_pixels, pixels);
    for (std::size_t p = tile * reduce_tile_pixels; p < end; ++p) {
      std::byte* const row = target.values + static_cast<std::ptrdiff_t>(p / cols) * target.row_stride;
      reduce_pixel(request.kind, requested.bins(p), request.bins.begin,
                   row + p % cols * value_bytes(request.kind));
    }
  });
}

}  // namespace pixhist
