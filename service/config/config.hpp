#pragma once
// The effective configuration, typed. Filled by load_config() from defaults, file, environment and --set;
// every value has passed the checks of the table in config_fields.cpp and the cross-checks.
// Constant after start; any thread may read it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch/batcher.hpp"
#include "core/batch/sequence_ledger.hpp"
#include "core/model/geometry.hpp"
#include "core/model/histogram_spec.hpp"

namespace pixhist {

enum class SocketKind : std::uint8_t { sub, pull };
enum class OnFull : std::uint8_t { wait, drop };
enum class OnIncomplete : std::uint8_t { accumulate, mask_missing, reject };
enum class DeviceKind : std::uint8_t { automatic, cpu, cuda };
enum class AllowControl : std::uint8_t { none, loopback, all };
enum class RunsPolicy : std::uint8_t { continuous, per_run };

// Names as in the configuration; the order of the enums.
inline constexpr std::string_view socket_kind_names[] = {"sub", "pull"};
inline constexpr std::string_view on_full_names[] = {"wait", "drop"};
inline constexpr std::string_view on_incomplete_names[] = {"accumulate", "mask_missing", "reject"};
inline constexpr std::string_view device_kind_names[] = {"auto", "cpu", "cuda"};
inline constexpr std::string_view allow_control_names[] = {"none", "loopback", "all"};
inline constexpr std::string_view runs_policy_names[] = {"continuous", "per_run"};
constexpr std::string_view name_of(SocketKind k) { return socket_kind_names[static_cast<std::size_t>(k)]; }
constexpr std::string_view name_of(OnFull o) { return on_full_names[static_cast<std::size_t>(o)]; }
constexpr std::string_view name_of(OnIncomplete o) {
  return on_incomplete_names[static_cast<std::size_t>(o)];
}
constexpr std::string_view name_of(DeviceKind k) { return device_kind_names[static_cast<std::size_t>(k)]; }
constexpr std::string_view name_of(AllowControl a) {
  return allow_control_names[static_cast<std::size_t>(a)];
}
constexpr std::string_view name_of(RunsPolicy p) { return runs_policy_names[static_cast<std::size_t>(p)]; }

struct SourceConfig {
  std::string name;
  std::vector<std::string> endpoints;  // one socket each, never empty; the same twice is two sockets
  SocketKind socket = SocketKind::sub;
  bool bind = false;
  std::string topic;
  std::string format = "array10";
  FrameShape shape;               // resolved: the source's own, or the whole detector
  std::optional<Place> place;     // resolved origin; nothing: the first header says it
  OnFull on_full = OnFull::drop;  // resolved from null
  OnIncomplete on_incomplete = OnIncomplete::accumulate;
  std::vector<double> invalid_values;
  std::string mask_file;           // empty: none
  std::vector<std::uint8_t> mask;  // its pixels in wire order, non-zero: masked; empty: none
  SequenceRules sequence;

  std::size_t masked_pixels() const;
};

struct Config {
  FrameShape detector;
  PixelType pixel_type = PixelType::u16;
  AxisSpec axis;  // type resolved from null
  ValueMap map = ValueMap::raw;
  std::string axis_unit;
  std::vector<SourceConfig> sources;

  DeviceKind device = DeviceKind::automatic;
  std::uint32_t device_index = 0;
  std::string policy = "auto";    // or the name of a FillKernel
  std::uint32_t cpu_threads = 0;  // 0: as many as the process may use

  std::uint32_t batch_frames = 255;
  std::uint64_t batch_bytes = 64ULL << 20;
  std::chrono::milliseconds batch_max_age{200};
  std::uint64_t ring_bytes = 1ULL << 30;      // total, shared out by frame size
  std::uint64_t rcvhwm_bytes = 256ULL << 20;  // per socket

  RunsPolicy runs_policy = RunsPolicy::continuous;
  std::chrono::seconds close_after{10};  // per_run: a run waits so long for its other sources
  bool autostart = true;

  std::string query_endpoint;
  std::uint64_t max_reply_bytes = 0;  // resolved from null
  std::uint32_t max_pending = 64;
  std::uint32_t max_pending_per_client = 8;
  AllowControl allow_control = AllowControl::loopback;

  std::uint64_t snapshot_max_bytes = 4ULL << 30;
  std::uint32_t snapshot_max_held = 4;
  std::chrono::seconds snapshot_ttl{60};

  std::string http_listen;  // host:port

  std::string log_format = "text";  // text | json
  std::string log_level = "info";   // trace | debug | info | warn | error | off
  std::optional<std::string> log_file;

  std::chrono::milliseconds receive_grace{1000};
  std::chrono::seconds shutdown_timeout{30};

  /// What source i accumulates.
  HistogramSpec histogram_spec(std::size_t i) const;
};

}  // namespace pixhist
