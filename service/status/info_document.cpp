#include <zmq.h>

#include "core/accumulators/pixel_histogram/launch_policy.hpp"
#include "core/memory/device_query.hpp"
#include "core/model/value_axis.hpp"
#include "proto/ingest/decoder_registry.hpp"
#include "proto/query/request.hpp"
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

json sources_json(const Config& config) {
  json sources = json::array();
  for (const auto& s : config.sources)
    sources.push_back({{"name", s.name},
                       {"format", s.format},
                       {"shape", {s.shape.rows, s.shape.cols}},
                       {"origin", {s.place.row, s.place.col}},
                       {"flip_rows", s.place.flip_rows},
                       {"endpoints", s.endpoints},
                       {"socket", s.socket == SocketKind::sub ? "sub" : "pull"},
                       {"bind", s.bind},
                       {"on_full", s.on_full == OnFull::wait ? "wait" : "drop"}});
  return sources;
}

/// Detector pixels that belong to no source; they read 0.
std::size_t uncovered_pixels(const Config& config) {
  std::size_t covered = 0;  // sources never overlap
  for (const auto& s : config.sources) covered += s.shape.pixels();
  return config.detector.pixels() - covered;
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

}  // namespace

json info_document(const ServiceView& view) {
  const Config& config = view.config;
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
      {"detector",
       {{"rows", config.detector.rows},
        {"cols", config.detector.cols},
        {"pixel_type", name_of(config.pixel_type)},
        {"uncovered_pixels", uncovered_pixels(config)}}},
      {"axis", axis_json(config)},
      {"sources", sources_json(config)},
      {"formats", std::move(formats)},
      {"kernel_policy",
       {{"policy", "auto"},
        {"rows", view.device.kind == "cuda" ? json(fill_kernel_names)
                                            : json{"cpu tile"}}}},
      {"limits",
       {{"max_request_bytes", max_request_bytes},
        {"max_reply_bytes", config.max_reply_bytes},
        {"max_pending", config.max_pending},
        {"max_pending_per_client", config.max_pending_per_client},
        {"snapshot_max_bytes", config.snapshot_max_bytes},
        {"snapshot_max_held", config.snapshot_max_held},
        {"snapshot_ttl_s", config.snapshot_ttl.count()}}},
      {"ops", op_schemas()}};
}

}  // namespace pixhist
