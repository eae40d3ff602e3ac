#include <zmq.h>

#include "core/memory/device_query.hpp"
#include "core/model/value_axis.hpp"
#include "proto/ingest/decoder_registry.hpp"
#include "proto/query/request.hpp"
#include "service/query/client_accounts.hpp"
#include "service/status/status_document.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

std::string zmq_version_text() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  zmq_version(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

json sources_json(const ServiceView& view, std::span<const PlacedSource> placed) {
  json sources = json::array();
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const auto& s = view.config.sources[i];
    const json place = place_json(view, i, placed[i].place);
    sources.push_back({{"name", s.name},
                       {"format", s.format},
                       {"shape", {s.shape.rows, s.shape.cols}},
                       {"origin", place["origin"]},
                       {"flip_rows", place["flip_rows"]},
                       {"origin_from", place["from"]},
                       {"endpoints", s.endpoints},
                       {"socket", s.socket == SocketKind::sub ? "sub" : "pull"},
                       {"bind", s.bind},
                       {"on_full", name_of(s.on_full)},
                       {"on_incomplete", name_of(s.on_incomplete)},
                       {"masked_pixels", s.masked_pixels()}});
  }
  return sources;
}

/// Detector pixels that belong to no source, or to one whose place is not known yet; they read 0.
json detector_json(const Config& config, std::span<const PlacedSource> placed) {
  std::size_t pixels = 0;
  json rects = json::array();
  for (const Rect& r : uncovered(placed, config.detector)) {
    pixels += r.pixels();
    rects.push_back({r.row_begin, r.row_end, r.col_begin, r.col_end});
  }
  return {{"rows", config.detector.rows},
          {"cols", config.detector.cols},
          {"pixel_type", name_of(config.pixel_type)},
          {"uncovered_pixels", pixels},
          {"uncovered", std::move(rects)}};
}

json axis_json(const Config& config) {
  json warnings = json::array();
  if (axis_has_comb(config.pixel_type, config.axis))
    warnings.push_back("the bin width is no whole number of " + std::string(name_of(config.pixel_type)) +
                       " values: neighbouring bins hold different numbers of values (a comb)");
  return {{"bins", config.axis.bins},          {"min", config.axis.min},     {"max", config.axis.max},
          {"type", name_of(config.axis.type)}, {"map", name_of(config.map)}, {"unit", config.axis_unit},
          {"warnings", std::move(warnings)}};
}

json kernels_json(const ServiceView& view) {
  json rows = json::array();
  for (const auto& row : view.kernels)
    rows.push_back({{"kernel", row.name}, {"when", row.when}, {"usable", row.usable}});
  return rows;
}

}  // namespace

json info_document(const ServiceView& view) {
  const Config& config = view.config;
  const auto placed = view.places.placed();
  json formats = json::array();
  for (const auto& format : wire_formats()) {
    if (format.built) formats.push_back(format.name);
  }
  return {
      {"name", "pixhist"},
      {"version", PIXHIST_VERSION},
      {"protocol_version", 1},
      {"build", {{"cuda", cuda_build_text()}, {"zmq", zmq_version_text()}, {"compiler", __VERSION__}}},
      {"devices", {{{"kind", view.device.kind}, {"name", view.device.name}, {"threads", view.cpu_threads}}}},
      {"detector", detector_json(config, placed)},
      {"axis", axis_json(config)},
      {"sources", sources_json(view, placed)},
      {"formats", std::move(formats)},
      {"kernel_policy", {{"policy", config.policy}, {"rows", kernels_json(view)}}},
      {"limits",
       {{"max_request_bytes", max_request_bytes},
        {"max_reply_bytes", config.max_reply_bytes},
        {"max_pending", config.max_pending},
        {"max_pending_per_client", config.max_pending_per_client},
        {"unread_bytes_per_client", unread_share(config.snapshot_max_bytes)},
        {"snapshot_max_bytes", config.snapshot_max_bytes},
        {"snapshot_max_held", config.snapshot_max_held},
        {"snapshot_ttl_s", config.snapshot_ttl.count()}}},
      {"ops", op_schemas()}};
}

}  // namespace pixhist
