#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/accumulators/pixel_histogram/count_checks.hpp"
#include "core/accumulators/pixel_histogram/cpu_reduce.hpp"

namespace pixhist {
namespace {

constexpr std::uint64_t cell_max = std::numeric_limits<std::uint32_t>::max();

// Rows of a tile stay in the second-level cache (1 MiB or more on the servers we know) for a whole batch.
constexpr std::size_t tile_bytes = 640 * 1024;
// Below this the frames would be read in pieces of less than a cache line or two.
constexpr std::size_t min_tile_pixels = 64;
// Tiles are whole cache lines of every pixel type but u8.
constexpr std::size_t tile_step = 32;
// Enough tiles for each thread that an unlucky last one does not matter.
constexpr std::size_t tiles_per_thread = 4;

std::size_t choose_tile_pixels(const HistogramSpec& spec, unsigned threads) {
  const std::size_t row_bytes = (std::size_t{spec.axis.bins} + flow_count) * sizeof(std::uint32_t);
  const std::size_t cached = std::max(tile_bytes / row_bytes, min_tile_pixels);
  const std::size_t shared = spec.shape.pixels() / (tiles_per_thread * threads);
  const std::size_t pixels = std::min({cached, shared, max_tile_pixels}) / tile_step * tile_step;
  return std::max(pixels, tile_step);
}

HistogramSpec checked(HistogramSpec spec) {
  check(spec);
  return spec;
}

HostBlock allocate_counts(const HistogramSpec& spec, HostMemory& memory) {
  const auto physical =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  // Asked beforehand, because the kernel may hand out more addresses than it has pages.
  if (count_bytes(spec) > physical) refuse_counts(spec, "this machine", physical);
  try {
    return memory.allocate(count_bytes(spec), Paging::on_demand);
  } catch (const std::bad_alloc&) {
    refuse_counts(spec, "this machine", physical);
  }
}

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) { return std::min(a + b, cell_max); }

}  // namespace

CpuPixelCounts::CpuPixelCounts(HistogramSpec spec, HostMemory& memory, WorkerPool& pool)
    : spec_(checked(std::move(spec))),
      pool_(pool),
      fill_(make_cpu_fill(spec_)),
      tile_pixels_(choose_tile_pixels(spec_, pool.threads())),
      block_(allocate_counts(spec_, memory)) {
  zero();  // also touches every page now, on all threads, so that none is faulted in while frames come
}

std::size_t CpuPixelCounts::pixels_of_tile(std::size_t tile) const {
  return std::min(tile_pixels_, spec_.shape.pixels() - tile * tile_pixels_);
}

/// Calls fn(first pixel, pixels, cells of the first pixel) for each tile on the pool.
template <class Fn>
void CpuPixelCounts::for_each_tile(Fn&& fn) {
  const auto all = block_.as<std::uint32_t>();
  pool_.run(tiles(), [&](std::size_t tile) {
    const std::size_t first = tile * tile_pixels_;
    const std::size_t pixels = pixels_of_tile(tile);
    fn(first, all.subspan(first * row_cells(), pixels * row_cells()));
  });
}

void CpuPixelCounts::zero() {
  for_each_tile(
      [](std::size_t, std::span<std::uint32_t> cells) { std::memset(cells.data(), 0, cells.size_bytes()); });
  frames_ = 0;
  bound_ = 0;
  totals_ = {};
  saturated_.reset();
}

void CpuPixelCounts::collect_good_frames(const DecodedBatch& batch) {
  if (batch.frame_ok.size() != batch.frames.size())
    throw std::invalid_argument("frame_ok has " + std::to_string(batch.frame_ok.size()) +
                                " entries, needed: one for each of " + std::to_string(batch.frames.size()) +
                                " frames");
  good_frames_.clear();
  missing_.clear();
  for (std::size_t f = 0; f < batch.frames.size(); ++f) {
    if (batch.frame_ok[f] == 0) continue;
    good_frames_.push_back(batch.pixels + batch.frames[f].offset);
    if (spec_.mask_missing) missing_.push_back((batch.frames[f].flags & frame_flags::complete) == 0 ? 1 : 0);
  }
}

void CpuPixelCounts::accumulate(const DecodedBatch& batch) {
  collect_good_frames(batch);
  ++batches_;
  if (good_frames_.empty()) return;
  const bool saturating = bound_ + good_frames_.size() > cell_max;
  std::mutex totals_mutex;  // taken once a tile, that is for about a millisecond of work
  for_each_tile([&](std::size_t first, std::span<std::uint32_t> cells) {
    TileFill tile;
    tile.frames = good_frames_;
    tile.missing = missing_;
    tile.first_pixel = first;
    tile.pixels = cells.size() / row_cells();
    tile.cells = cells.data();
    tile.mask = spec_.mask.empty() ? nullptr : spec_.mask.data() + first;
    tile.saturating = saturating;
    const FlowTotals added = fill_->fill(tile);
    const std::lock_guard lock(totals_mutex);
    totals_ += added;
  });
  frames_ += good_frames_.size();
  bound_ = saturated_sum(bound_, good_frames_.size());
  saturated_.reset();
}

std::unique_ptr<CountRead> CpuPixelCounts::begin_read(const CountWindow& window, const CountTarget& target) {
  check_window(spec_, window);
  const std::uint64_t capped = read_counts(rows(), window, target, pool_);
  return std::make_unique<FinishedRead>(capped, frames_);
}

std::unique_ptr<CountRead> CpuPixelCounts::begin_reduce(const ReductionRequest& request,
                                                        const ReductionTarget& target) {
  check_window(spec_, {request.pixels, request.bins});
  reduce_counts(rows(), request, target, pool_);
  return std::make_unique<FinishedRead>(0, frames_);
}

std::uint64_t CpuPixelCounts::saturated_cells() {
  if (bound_ < cell_max) return 0;
  if (!saturated_) {
    std::atomic<std::uint64_t> found{0};
    for_each_tile([&found](std::size_t, std::span<std::uint32_t> cells) {
      std::uint64_t n = 0;
      for (const std::uint32_t cell : cells) n += cell == cell_max ? 1U : 0U;
      found.fetch_add(n, std::memory_order_relaxed);
    });
    saturated_ = found.load();
  }
  return *saturated_;
}

void CpuPixelCounts::restore(std::span<const std::uint32_t> stored, std::uint64_t frames,
                             std::uint64_t bound) {
  check_stored_cells(spec_, stored, bound);
  std::mutex totals_mutex;
  totals_ = {};
  for_each_tile([&](std::size_t first, std::span<std::uint32_t> cells) {
    std::memcpy(cells.data(), stored.data() + first * row_cells(), cells.size_bytes());
    FlowTotals added;
    for (std::size_t flow = spec_.axis.bins; flow < cells.size(); flow += row_cells()) {
      const std::uint32_t* pixel = cells.data() + flow;
      added += {pixel[0], pixel[1], pixel[2], pixel[3]};
    }
    const std::lock_guard lock(totals_mutex);
    totals_ += added;
  });
  frames_ = frames;
  bound_ = std::min(bound, cell_max);
  saturated_.reset();
}

}  // namespace pixhist
