#include "service/config/config_builder.hpp"

#include <algorithm>

#include "service/config/config_fields.hpp"
#include "service/config/config_values.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t least_max_reply = 1ULL << 20;  // edges and one pixel of any axis fit
constexpr std::uint64_t most_max_reply = 4ULL << 30;

/// The enumerator whose name stands at the same place of `names`.
template <class Enum, std::size_t n>
Enum enum_of(const Json& value, const std::string_view (&names)[n]) {
  const auto* const at = std::find(std::begin(names), std::end(names), value.get_ref<const std::string&>());
  return static_cast<Enum>(at - std::begin(names));
}

FrameShape shape_of(const Json& pair) { return {pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>()}; }

SourceConfig build_source(const Json& j, FrameShape detector) {
  SourceConfig source;
  source.name = j["name"].get<std::string>();
  source.endpoints = j["endpoints"].get<std::vector<std::string>>();
  if (source.endpoints.empty()) source.endpoints = {j["endpoint"].get<std::string>()};
  source.socket = enum_of<SocketKind>(j["socket"], socket_kind_names);
  source.bind = j["bind"].get<bool>();
  source.topic = j["topic"].get<std::string>();
  source.format = j["format"].get<std::string>();
  source.shape = j["shape"].is_null() ? detector : shape_of(j["shape"]);
  if (!j["origin"].is_null())
    source.place = Place{j["origin"][0].get<std::uint32_t>(), j["origin"][1].get<std::uint32_t>()};
  else if (source.format != "sls")  // the only format whose headers say where a frame lies
    source.place = Place{};
  source.on_full = source.socket == SocketKind::pull ? OnFull::wait : OnFull::drop;
  if (!j["on_full"].is_null()) source.on_full = enum_of<OnFull>(j["on_full"], on_full_names);
  source.on_incomplete = enum_of<OnIncomplete>(j["on_incomplete"], on_incomplete_names);
  if (!j["mask_file"].is_null()) source.mask_file = j["mask_file"].get<std::string>();
  if (!j["invalid"].is_null()) source.invalid_values = j["invalid"].get<std::vector<double>>();
  source.sequence = {j["sequence"]["window"].get<std::uint64_t>(),
                     j["sequence"]["step"].get<std::uint64_t>()};
  return source;
}

void build_axis(const Json& j, Config& config) {
  config.axis = {j["bins"].get<std::uint32_t>(), j["min"].get<double>(), j["max"].get<double>(),
                 default_axis_type(config.pixel_type)};
  if (!j["type"].is_null()) config.axis.type = j["type"] == "float" ? AxisType::f32 : AxisType::f64;
  config.map = parse_value_map(j["map"].get_ref<const std::string&>()).value();
  config.axis_unit = j["unit"].get<std::string>();
}

void build_query(const Json& j, Config& config) {
  config.query_endpoint = j["endpoint"].get<std::string>();
  const std::uint64_t values =
      std::uint64_t{config.detector.pixels()} * config.axis.bins * sizeof(std::uint32_t);
  config.max_reply_bytes = j["max_reply_bytes"].is_null()
                               ? std::clamp(values, least_max_reply, most_max_reply)
                               : size_value(j["max_reply_bytes"]);
  config.max_pending = j["max_pending"].get<std::uint32_t>();
  config.max_pending_per_client = j["max_pending_per_client"].get<std::uint32_t>();
  config.allow_control = enum_of<AllowControl>(j["allow_control"], allow_control_names);
}

}  // namespace

Config build_config(const Json& j) {
  Config config;
  config.detector = {j["detector"]["rows"].get<std::uint32_t>(), j["detector"]["cols"].get<std::uint32_t>()};
  config.pixel_type = parse_pixel_type(j["detector"]["pixel_type"].get_ref<const std::string&>()).value();
  build_axis(j["axis"], config);
  for (const auto& source : j["sources"]) config.sources.push_back(build_source(source, config.detector));

  config.device = enum_of<DeviceKind>(j["device"]["kind"], device_kind_names);
  config.device_index = j["device"]["index"].get<std::uint32_t>();
  config.policy = j["device"]["policy"].get<std::string>();
  config.cpu_threads = j["device"]["cpu_threads"].get<std::uint32_t>();

  config.batch_frames = j["batch"]["frames"].get<std::uint32_t>();
  config.batch_bytes = size_value(j["batch"]["bytes"]);
  config.batch_max_age = std::chrono::milliseconds(j["batch"]["max_age_ms"].get<std::int64_t>());
  config.ring_bytes = size_value(j["ring"]["bytes"]);
  config.rcvhwm_bytes = size_value(j["ring"]["rcvhwm_bytes"]);

  config.runs_policy = enum_of<RunsPolicy>(j["runs"]["policy"], runs_policy_names);
  config.close_after = std::chrono::seconds(j["runs"]["close_after_s"].get<std::uint32_t>());
  config.autostart = j["runs"]["autostart"].get<bool>();
  build_query(j["query"], config);
  config.snapshot_max_bytes = size_value(j["snapshot"]["max_bytes"]);
  config.snapshot_max_held = j["snapshot"]["max_held"].get<std::uint32_t>();
  config.snapshot_ttl = std::chrono::seconds(j["snapshot"]["ttl_s"].get<std::int64_t>());
  config.http_listen = j["http"]["listen"].get<std::string>();

  config.log_format = j["log"]["format"].get<std::string>();
  config.log_level = j["log"]["level"].get<std::string>();
  if (!j["log"]["file"].is_null()) config.log_file = j["log"]["file"].get<std::string>();
  config.receive_grace = std::chrono::milliseconds(j["shutdown"]["receive_grace_ms"].get<std::int64_t>());
  config.shutdown_timeout = std::chrono::seconds(j["shutdown"]["timeout_s"].get<std::int64_t>());
  return config;
}

Json resolved_document(const Json& document, const Config& config) {
  Json j = document;
  j["axis"]["type"] = name_of(config.axis.type);
  j["query"]["max_reply_bytes"] = config.max_reply_bytes;
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    const SourceConfig& source = config.sources[i];
    j["sources"][i]["shape"] = {source.shape.rows, source.shape.cols};
    if (source.place) j["sources"][i]["origin"] = {source.place->row, source.place->col};
    j["sources"][i]["on_full"] = name_of(source.on_full);
  }
  for (const auto& field : config_fields()) {
    if (field.type != FieldType::size) continue;
    std::string path = "/" + std::string(field.path);
    std::replace(path.begin(), path.end(), '.', '/');
    Json& value = j[Json::json_pointer(path)];
    const auto text = size_text(size_value(value));
    value = text.find('B') == std::string::npos ? Json(size_value(value)) : Json(text);
  }
  return j;
}

}  // namespace pixhist
