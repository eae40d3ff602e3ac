#include "service/query/count_replies.hpp"

#include "core/snapshot/reductions.hpp"
#include "core/snapshot/statistics.hpp"
#include "proto/query/reply.hpp"
#include "service/query/count_reads.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

/// A new array, owned by the part of the reply that it becomes.
template <class Value>
struct Array {
  std::shared_ptr<HostBlock> block;
  std::span<Value> values;

  Array(std::size_t n, HostMemory& memory)
      : block(std::make_shared<HostBlock>(memory.allocate_to_overwrite(n * sizeof(Value)))),
        values(block->as<Value>()) {}
  SharedBytes part() const { return {block, block->bytes()}; }
};

/// What every answer made of bins says about them.
json taken_json(const CountAnswer& answer, const AxisSpec& axis) {
  const Request& request = answer.request;
  json result{{"roi", roi_json(request.roi)},
              {"bins", {request.bins.begin, request.bins.end}},
              {"range", range_json(axis, request.bins)},
              {"cut", to_json(answer.from->cut)}};
  add_since(result, request, answer.since);
  return result;
}

SnapshotPtr counts_of(const CountAnswer& answer, const SnapshotWindow& window, HostMemory& memory) {
  if (!answer.since && answer.from->window == window) return answer.from;
  return extract(*answer.from, window, memory, answer.since.get());
}

SnapshotPtr reduced_of(const CountAnswer& answer, HostMemory& memory) {
  const ReductionKind kind = *reduction_of(answer.request);
  const SnapshotWindow window = window_of(answer.request);
  if (answer.since && !is_linear(kind))
    return reduce(*counts_of(answer, window, memory), window, kind, memory);
  SnapshotPtr reduced = answer.from->reduction ? answer.from : reduce(*answer.from, window, kind, memory);
  if (!answer.since) return reduced;
  check_holds("`since`", answer.since->window, window);
  return subtract_reduced(*reduced, *reduce(*answer.since, window, kind, memory), memory);
}

Reply spectrum_reply(const CountAnswer& answer, const AxisSpec& axis, HostMemory& memory) {
  const auto spectrum =
      std::make_shared<const std::vector<std::uint64_t>>(sum_of_sources(*reduced_of(answer, memory)));
  json result = taken_json(answer, axis);
  result["shape"] = {spectrum->size()};
  result["dtype"] = "<u8";
  Reply reply = result_reply(answer.request.id, std::move(result));
  reply.parts.push_back({spectrum, std::as_bytes(std::span(*spectrum))});
  return reply;
}

/// Values of `kind` that the image is made of.
SharedBytes image_part(const Request& request, const SnapshotPtr& reduced, const PixelBlocks& blocks,
                       const AxisSpec& axis, HostMemory& memory) {
  if (request.statistic == Statistic::sum) {
    if (blocks.side == 1) return {reduced, reduced->reduced.bytes()};
    const Array<std::uint64_t> image(blocks.blocks(), memory);
    sum_image(reduced->reduced.as<std::uint64_t>(), blocks, image.values);
    return image.part();
  }
  const StatisticsAxis in_double(axis);
  const Array<double> image(blocks.blocks(), memory);
  if (request.statistic == Statistic::mean)
    mean_image(reduced->reduced.as<PixelMoments>(), blocks, in_double, image.values);
  else if (request.statistic == Statistic::std)
    std_image(reduced->reduced.as<PixelMoments>(), blocks, in_double, image.values);
  else
    center_image(reduced->reduced.as<FoundBin>(), blocks, in_double, image.values);
  return image.part();
}

Reply image_reply(const CountAnswer& answer, const AxisSpec& axis, HostMemory& memory) {
  const Request& request = answer.request;
  PixelBlocks blocks{request.roi.rows(), request.roi.cols(), 1};
  if (request.max_px) blocks = PixelBlocks::at_most(request.roi, *request.max_px);
  json result = taken_json(answer, axis);
  result["shape"] = {blocks.block_rows(), blocks.block_cols()};
  result["dtype"] = request.statistic == Statistic::sum ? "<u8" : "<f8";
  result["stat"] = name_of(request.statistic);
  result["square"] = blocks.side;
  Reply reply = result_reply(request.id, std::move(result));
  reply.parts.push_back(image_part(request, reduced_of(answer, memory), blocks, axis, memory));
  return reply;
}

Reply moments_reply(const CountAnswer& answer, const AxisSpec& axis, HostMemory& memory) {
  const Rect& roi = answer.request.roi;
  const SnapshotPtr reduced = reduced_of(answer, memory);
  const auto moments = reduced->reduced.as<PixelMoments>();
  const PixelBlocks pixels{roi.rows(), roi.cols(), 1};
  const StatisticsAxis in_double(axis);
  const Array<std::uint64_t> n(moments.size(), memory);
  const Array<double> mean(moments.size(), memory);
  const Array<double> std(moments.size(), memory);
  for (std::size_t p = 0; p < moments.size(); ++p) n.values[p] = moments[p].n;
  mean_image(moments, pixels, in_double, mean.values);
  std_image(moments, pixels, in_double, std.values);
  const json shape{roi.rows(), roi.cols()};
  json result = taken_json(answer, axis);
  result["arrays"] = {{{"name", "n"}, {"shape", shape}, {"dtype", "<u8"}},
                      {{"name", "mean"}, {"shape", shape}, {"dtype", "<f8"}},
                      {{"name", "std"}, {"shape", shape}, {"dtype", "<f8"}}};
  Reply reply = result_reply(answer.request.id, std::move(result));
  reply.parts = {n.part(), mean.part(), std.part()};
  return reply;
}

}  // namespace

Reply count_reply(const CountAnswer& answer, const AxisSpec& axis, HostMemory& memory) {
  const Request& request = answer.request;
  switch (request.op) {
    case Op::spectrum: return spectrum_reply(answer, axis, memory);
    case Op::image: return image_reply(answer, axis, memory);
    case Op::moments: return moments_reply(answer, axis, memory);
    case Op::pixel: return pixel_reply(request, counts_of(answer, window_of(request), memory), answer.since);
    default:
      return values_reply(request, counts_of(answer, window_of(request), memory), answer.since,
                          answer.held_id, axis);
  }
}

}  // namespace pixhist
