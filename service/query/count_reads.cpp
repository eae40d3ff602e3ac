#include "service/query/count_reads.hpp"

#include "core/snapshot/reductions.hpp"
#include "core/snapshot/statistics.hpp"

namespace pixhist {
namespace {

bool wants_flow(const Request& request) { return request.op == Op::pixel || is_held(request); }

}  // namespace

SnapshotWindow window_of(const Request& request) {
  return {request.roi, request.bins, request.dtype, request.rebin};
}

std::optional<ReductionKind> reduction_of(const Request& request) {
  if (request.op == Op::spectrum) return ReductionKind::spectrum;
  if (request.op == Op::moments) return ReductionKind::moments;
  if (request.op != Op::image) return std::nullopt;
  switch (request.statistic) {
    case Statistic::sum: return ReductionKind::sum;
    case Statistic::mean:
    case Statistic::std: return ReductionKind::moments;
    case Statistic::median: return ReductionKind::median;
    case Statistic::mode: return ReductionKind::mode;
    case Statistic::max: break;
  }
  return ReductionKind::max;
}

bool is_held(const Request& request) { return request.op == Op::snapshot || request.then_reset; }

Snapshot read_of(const Request& request) {
  Snapshot read;
  read.window = window_of(request);
  read.reduction = reduction_of(request);
  if (!request.since) return read;
  if (read.reduction && !is_linear(*read.reduction)) read.reduction.reset();
  read.window.dtype = StorageType::u32;
  read.window.rebin = 1;
  return read;
}

ReadWish wish_of(const Request& request) {
  const Snapshot read = read_of(request);
  return {read.window, read.reduction, wants_flow(request), request.fresh || request.op == Op::snapshot,
          request.pause};
}

std::size_t bytes_to_read(const Request& request, std::size_t sources) {
  const Snapshot read = read_of(request);
  if (read.reduction) return reduced_bytes(*read.reduction, read.window, sources);
  return read.window.count_bytes() + (wants_flow(request) ? read.window.flow_bytes() : 0);
}

std::shared_ptr<Snapshot> prepare_read(const Request& request, std::span<const PlacedSource> sources,
                                       FrameShape detector, HostMemory& memory) {
  auto read = std::make_shared<Snapshot>(read_of(request));
  if (read->reduction) {
    read->reduced = memory.allocate_to_overwrite(bytes_to_read(request, sources.size()));
  } else {
    read->counts = memory.allocate_to_overwrite(read->window.count_bytes());
    if (wants_flow(request)) read->flow = memory.allocate_to_overwrite(read->window.flow_bytes());
  }
  zero_uncovered(sources, detector, *read);
  return read;
}

std::size_t reply_bytes(const Request& request) {
  constexpr std::size_t wide = sizeof(double);  // as of the integers beside it
  switch (request.op) {
    case Op::spectrum: return request.bins.size() * wide;
    case Op::moments: return request.roi.pixels() * 3 * wide;
    case Op::image:
      return request.max_px ? PixelBlocks::at_most(request.roi, *request.max_px).blocks() * wide
                            : request.roi.pixels() * wide;
    default: return window_of(request).count_bytes();
  }
}

}  // namespace pixhist
