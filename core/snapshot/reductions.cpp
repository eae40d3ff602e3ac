#include "core/snapshot/reductions.hpp"

#include <span>

#include "core/accumulators/pixel_histogram/cpu_reduce.hpp"

namespace pixhist {
namespace {

std::shared_ptr<Snapshot> make_reduced(const Snapshot& like, const SnapshotWindow& window, ReductionKind kind,
                                       std::size_t bytes, HostMemory& memory) {
  auto reduced = std::make_shared<Snapshot>();
  reduced->cut = like.cut;
  reduced->window = window;
  reduced->reduction = kind;
  reduced->reduced = memory.allocate_to_overwrite(bytes);
  return reduced;
}

/// n = Σc is at most that of the later cut in the same run, bin by bin, and so in every sum.
bool shrank(std::uint64_t later, std::uint64_t earlier) { return later < earlier; }
bool shrank(const PixelMoments& later, const PixelMoments& earlier) { return later.n < earlier.n; }

template <class Value>
void subtract(std::span<const Value> later, std::span<const Value> earlier, std::span<Value> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (shrank(later[i], earlier[i]))
      throw RunChanged("there are fewer counts than in the cut of `since`: the two belong to different runs");
    out[i] = later[i];
    out[i] -= earlier[i];
  }
}

template <class Value>
void subtract(const Snapshot& later, const Snapshot& earlier, const Snapshot& out) {
  subtract<Value>(later.reduced.as<Value>(), earlier.reduced.as<Value>(), out.reduced.as<Value>());
}

}  // namespace

std::size_t reduced_bytes(ReductionKind kind, const SnapshotWindow& window, std::size_t sources) {
  const std::size_t values =
      kind == ReductionKind::spectrum ? sources * window.bins.size() : window.pixels.pixels();
  return values * value_bytes(kind);
}

SnapshotPtr reduce(const Snapshot& from, const SnapshotWindow& window, ReductionKind kind,
                   HostMemory& memory) {
  check_holds("the snapshot", from.window, window);
  auto to = make_reduced(from, window, kind, reduced_bytes(kind, window, 1), memory);
  const Rect& held = from.window.pixels;
  const Rect& wanted = window.pixels;
  const CountRows rows{from.counts.as<std::uint32_t>().data(), held.cols(), from.window.bins.size(),
                       from.window.bins.size()};
  const Rect inside{wanted.row_begin - held.row_begin, wanted.row_end - held.row_begin,
                    wanted.col_begin - held.col_begin, wanted.col_end - held.col_begin};
  WorkerPool alone(1);  // the caller's thread; the workers are the submit thread's
  const auto row_bytes = static_cast<std::ptrdiff_t>(wanted.cols() * value_bytes(kind));
  reduce_counts(rows, {kind, inside, window.bins}, {to->reduced.data(), row_bytes}, alone,
                from.window.bins.begin);
  return to;
}

SnapshotPtr subtract_reduced(const Snapshot& later, const Snapshot& earlier, HostMemory& memory) {
  check_same_run(later.cut, earlier.cut);
  const ReductionKind kind = *later.reduction;
  auto to = make_reduced(later, later.window, kind, reduced_bytes(kind, later.window, 1), memory);
  if (kind == ReductionKind::spectrum)  // one row here, a row per source there
    subtract<std::uint64_t>(sum_of_sources(later), sum_of_sources(earlier), to->reduced.as<std::uint64_t>());
  else if (kind == ReductionKind::sum)
    subtract<std::uint64_t>(later, earlier, *to);
  else
    subtract<PixelMoments>(later, earlier, *to);
  return to;
}

std::vector<std::uint64_t> sum_of_sources(const Snapshot& reduced) {
  const std::size_t bins = reduced.window.bins.size();
  const auto values = reduced.reduced.as<std::uint64_t>();
  std::vector<std::uint64_t> sum(bins);
  for (std::size_t i = 0; i < values.size(); ++i) sum[i % bins] += values[i];
  return sum;
}

}  // namespace pixhist
