#include "service/query/query_replies.hpp"

#include "core/model/value_axis.hpp"
#include "proto/query/reply.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

SharedBytes counts_part(const SnapshotPtr& snapshot) { return {snapshot, snapshot->counts.bytes()}; }

}  // namespace

json roi_json(const Rect& roi) { return {roi.row_begin, roi.row_end, roi.col_begin, roi.col_end}; }

json range_json(const AxisSpec& axis, BinRange bins) {
  return visit_bin_scale(axis, [bins](const auto& scale) {
    const auto edges = bin_edges(scale);
    return json{static_cast<double>(edges[bins.begin]), static_cast<double>(edges[bins.end])};
  });
}

void add_since(json& result, const Request& request, const SnapshotPtr& since) {
  if (since) result["since"] = {{"snapshot", *request.since}, {"cut", to_json(since->cut)}};
}

Reply error_reply(const nlohmann::json& id, ErrorCode code, const std::string& message) {
  return {encode_error(id, code, message), {}, code};
}

Reply result_reply(const nlohmann::json& id, nlohmann::json result) {
  return {encode_result(id, std::move(result)), {}, std::nullopt};
}

Reply values_reply(const Request& request, const SnapshotPtr& snapshot, const SnapshotPtr& since,
                   const std::optional<std::string>& held_id, const AxisSpec& axis) {
  const auto& window = snapshot->window;
  json result{{"shape", {window.pixels.rows(), window.pixels.cols(), window.cells()}},
              {"dtype", numpy_dtype(window.dtype)},
              {"roi", roi_json(window.pixels)},
              {"bins", {window.bins.begin, window.bins.end}},
              {"range", range_json(axis, window.bins)},
              {"rebin", window.rebin},
              {"capped", snapshot->capped},
              {"cut", to_json(snapshot->cut)}};
  if (held_id) result["snapshot"] = *held_id;
  add_since(result, request, since);
  Reply reply = result_reply(request.id, std::move(result));
  reply.parts.push_back(counts_part(snapshot));
  return reply;
}

Reply pixel_reply(const Request& request, const SnapshotPtr& snapshot, const SnapshotPtr& since) {
  const auto flow = snapshot->flow.as<std::uint32_t>();
  json result{{"shape", {snapshot->window.bins.size()}},
              {"dtype", numpy_dtype(snapshot->window.dtype)},
              {"row", request.roi.row_begin},
              {"col", request.roi.col_begin},
              {"below", flow[static_cast<std::size_t>(Flow::below)]},
              {"above", flow[static_cast<std::size_t>(Flow::above)]},
              {"invalid", flow[static_cast<std::size_t>(Flow::invalid)]},
              {"other_stage", flow[static_cast<std::size_t>(Flow::other_stage)]},
              {"cut", to_json(snapshot->cut)}};
  add_since(result, request, since);
  Reply reply = result_reply(request.id, std::move(result));
  reply.parts.push_back(counts_part(snapshot));
  return reply;
}

Reply snapshot_reply(const Request& request, const HeldSnapshot& held) {
  const Snapshot& snapshot = *held.snapshot;
  return result_reply(request.id, {{"snapshot", held.id},
                                   {"bytes", snapshot.counts.size() + snapshot.flow.size()},
                                   {"expires_at", rfc3339(held.expires_at)},
                                   {"roi", roi_json(request.roi)},
                                   {"bins", {request.bins.begin, request.bins.end}},
                                   {"dtype", numpy_dtype(request.dtype)},
                                   {"capped", snapshot.capped},
                                   {"cut", to_json(snapshot.cut)}});
}

json runs_json(const ClosedRuns& closed) {
  json runs = json::array();
  if (const auto run = closed.last()) {
    const Snapshot& snapshot = *run->snapshot;
    runs.push_back({{"run", snapshot.cut.run},
                    {"name", run->name},
                    {"where", "memory"},
                    {"ended_by", name_of(run->end)},
                    {"started_at", rfc3339(snapshot.cut.started_at)},
                    {"closed_at", rfc3339(snapshot.cut.taken_at)},
                    {"frames", snapshot.cut.frames()},
                    {"bytes", snapshot.counts.size() + snapshot.flow.size()},
                    {"cut", to_json(snapshot.cut)}});
  }
  return {{"runs", std::move(runs)}};
}

Reply axis_reply(const Request& request, const AxisSpec& axis) {
  auto values = std::make_shared<std::vector<double>>();
  visit_bin_scale(axis, [&](const auto& scale) {
    const auto in_axis_type = request.op == Op::edges ? bin_edges(scale) : bin_centers(scale);
    values->assign(in_axis_type.begin(), in_axis_type.end());
  });
  Reply reply = result_reply(request.id, {{"shape", {values->size()}}, {"dtype", "<f8"}});
  reply.parts.push_back({values, std::as_bytes(std::span<const double>(*values))});
  return reply;
}

}  // namespace pixhist
