#include "service/config/config_checks.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <stdexcept>

#include "core/snapshot/assembly.hpp"
#include "proto/json.hpp"
#include "service/agents/closed_runs.hpp"
#include "service/config/config_fields.hpp"
#include "service/config/config_values.hpp"
#include "service/config/memory_plan.hpp"
#include "service/config/strict_json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_given_bytes = 200;
constexpr std::uint64_t frame_limit = std::numeric_limits<std::uint32_t>::max() - 15ULL;  // of a ring record

std::string source_path(std::size_t i) { return "sources." + std::to_string(i); }

class Checker {
 public:
  Checker(const Config& config, const Json& document, const std::set<std::string>& bad)
      : config_(config), document_(document), bad_(bad) {}

  ConfigFindings run() {
    check_histograms();
    check_names();
    check_formats();
    check_endpoints();
    check_places();
    check_ring();
    check_runs();
    warn_of_comb();
    warn_of_sources();
    return std::move(findings_);
  }

 private:
  /// True if no key at or below the paths was refused.
  bool good(std::initializer_list<std::string> paths) const {
    for (const auto& path : paths) {
      for (const auto& bad : bad_) {
        if (bad == path || bad.compare(0, path.size() + 1, path + ".") == 0) return false;
      }
    }
    return true;
  }

  const Json& given(const std::string& path) const {
    std::string pointer = "/" + path;
    for (char& c : pointer) c = c == '.' ? '/' : c;
    return document_.at(Json::json_pointer(pointer));
  }

  void refuse(const std::string& path, const std::string& rule) {
    findings_.errors.push_back({path, json_text(given(path), shown_given_bytes), "", rule});
  }
  void warn(const std::string& path, const std::string& what) { findings_.warnings.push_back({path, what}); }

  /// True if core accepts the histogram; else its message, which names what is allowed, is the rule.
  bool accepted(const std::string& path, const HistogramSpec& spec) {
    try {
      check(spec);
      return true;
    } catch (const std::invalid_argument& error) {
      refuse(path, error.what());
      return false;
    }
  }

  /// One property after the other is added to a histogram that core accepts, so that what it refuses is known
  /// to be about the key just added.
  void check_histograms() {
    if (!good({"axis", "detector.pixel_type"})) return;
    HistogramSpec spec;
    spec.shape = {1, 1};
    spec.pixel_type = config_.pixel_type;
    spec.axis = {1, 0, 1, config_.axis.type};
    if (!accepted("axis.type", spec)) return;
    spec.axis = config_.axis;
    const bool axis_good = accepted("axis", spec);
    if (!axis_good) spec.axis = {1, 0, 1, config_.axis.type};
    spec.map = config_.map;
    if (!accepted("axis.map", spec)) spec.map = ValueMap::raw;
    for (std::size_t i = 0; i < config_.sources.size(); ++i) check_source(i, spec);
  }

  void check_source(std::size_t i, HistogramSpec spec) {
    const std::string path = source_path(i);
    if (good({path + ".invalid"})) {
      spec.invalid_values = config_.sources[i].invalid_values;
      if (!accepted(path + ".invalid", spec)) spec.invalid_values.clear();
    }
    const bool whole = given(path + ".shape").is_null();
    const std::string shape_path = whole ? "detector" : path + ".shape";
    if (!good({shape_path})) return;
    spec.shape = config_.sources[i].shape;
    if (!accepted(shape_path, spec)) return;
    const std::uint64_t bytes = spec.shape.pixels() * size_of(spec.pixel_type);
    if (bytes > frame_limit)
      refuse(shape_path, "a frame of " + std::to_string(bytes) + " bytes; allowed: at most " +
                             std::to_string(frame_limit) + " bytes a frame. Split the detector into sources");
  }

  void check_names() {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      const std::string path = source_path(i) + ".name";
      if (!good({path})) continue;
      const auto [other, is_new] = seen.emplace(config_.sources[i].name, i);
      if (!is_new)
        refuse(path, "already the name of " + source_path(other->second) +
                         "; allowed: a name for each source alone");
    }
  }

  void check_formats() {
    if (!good({"detector.pixel_type"}) || is_integer(config_.pixel_type)) return;
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      const std::string path = source_path(i) + ".format";
      if (good({path}) && config_.sources[i].format == "sls")
        refuse(path, "sends integers only, and detector.pixel_type is " +
                         std::string(name_of(config_.pixel_type)) +
                         "; allowed with sls: u8, u16, u32, i16, i32");
    }
  }

  void check_endpoints() {
    std::map<std::string, std::string> bound;  // endpoint, path
    if (good({"query.endpoint"})) bound[config_.query_endpoint] = "query.endpoint";
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      const std::string path = source_path(i);
      const SourceConfig& source = config_.sources[i];
      if (!good({path + ".endpoint", path + ".endpoints", path + ".bind"})) continue;
      const bool list = !given(path + ".endpoints").empty();
      const Json default_endpoint = parse_ordered_json(find_field("sources.*.endpoint")->default_json);
      if (list && given(path + ".endpoint") != default_endpoint)
        refuse(path + ".endpoint", "excluded by " + path + ".endpoints; allowed: one of the two");
      const std::string key = path + (list ? ".endpoints" : ".endpoint");
      for (const auto& endpoint : source.endpoints) {
        if (!source.bind && endpoint_only_binds(endpoint))
          refuse(key,
                 endpoint + " cannot be connected to; allowed: a host and a port, or " + path + ".bind true");
        if (!source.bind || endpoint_has_free_port(endpoint)) continue;
        const auto [other, is_new] = bound.emplace(endpoint, key);
        if (!is_new)
          refuse(key, endpoint + " is bound by " + other->second +
                          " already; allowed: an endpoint for each "
                          "socket that binds");
      }
    }
  }

  void check_places() {
    const bool several = config_.sources.size() > 1;
    bool complete = good({"detector.rows", "detector.cols"});
    std::vector<PlacedSource> placed;
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      const std::string path = source_path(i);
      complete = complete && good({path + ".shape", path + ".origin"});
      placed.push_back({config_.sources[i].shape, config_.sources[i].place});
      if (!several) continue;
      if (given(path + ".shape").is_null() && good({path + ".shape"})) {
        refuse(path + ".shape", "needed with several sources: [rows, cols] of one frame of this source");
        complete = false;
      }
      if (!given(path + ".origin").is_null() || config_.sources[i].format == "sls") continue;
      complete = false;
      if (good({path + ".origin", path + ".format"}))
        refuse(path + ".origin", "needed with several sources: [row, col] of the source's first pixel");
    }
    if (!complete) return;
    check_room(placed);
    try {
      check_placement(placed, config_.detector);
    } catch (const std::invalid_argument& error) {
      findings_.errors.push_back({"sources", "", "", error.what()});
    }
  }

  /// Of sources that are placed by their headers: whether there is a place for them at all.
  void check_room(const std::vector<PlacedSource>& placed) {
    std::uint64_t pixels = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const FrameShape shape = placed[i].shape;
      pixels += shape.pixels();
      if (placed[i].place || (shape.rows <= config_.detector.rows && shape.cols <= config_.detector.cols))
        continue;
      refuse(source_path(i) + ".shape", "larger than the detector; allowed: at most detector.rows (" +
                                            std::to_string(config_.detector.rows) + ") and detector.cols (" +
                                            std::to_string(config_.detector.cols) + ")");
    }
    if (pixels > config_.detector.pixels())
      findings_.errors.push_back(
          {"sources", "", "",
           "the sources have " + std::to_string(pixels) + " pixels together, the detector " +
               std::to_string(config_.detector.pixels()) +
               "; allowed: sources that fit beside each other. Set detector.rows and cols "
               "to the whole detector"});
  }

  void check_ring() {
    if (!good({"detector", "ring.bytes"})) return;
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      if (!good({source_path(i) + ".shape", source_path(i) + ".endpoints"})) return;
    }
    const std::uint64_t least = least_ring_bytes(config_);
    if (config_.ring_bytes < least)
      refuse("ring.bytes", "allowed: at least " + std::to_string(least) + " bytes (" + human_bytes(least) +
                               "), four frames for each socket");
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      if (config_.batch_bytes < record_bytes(config_, i) && good({"batch.bytes"}))
        warn("batch.bytes", "is smaller than one frame of " + config_.sources[i].name + " (" +
                                std::to_string(record_bytes(config_, i)) +
                                " bytes): each batch holds one frame");
    }
  }

  /// A closed run is kept in memory while the next one's is taken.
  void check_runs() {
    if (config_.runs_policy != RunsPolicy::per_run) return;
    if (!good({"runs.policy", "snapshot.max_bytes", "detector", "axis"})) return;
    const std::uint64_t cut = closed_run_bytes(config_);
    const std::uint64_t least = ClosedRuns::cuts * cut;
    const std::string needs =
        "runs.policy per_run holds the last closed run and takes the next: two cuts of " +
        std::to_string(cut) + " bytes (" + human_bytes(cut) + ")";
    if (config_.snapshot_max_bytes < least) {
      refuse("snapshot.max_bytes", needs + "; allowed: at least " + std::to_string(least) + " bytes (" +
                                       human_bytes(least) +
                                       "). Raise it, lower axis.bins, or leave runs.policy continuous");
    } else if (config_.snapshot_max_bytes - least < cut) {
      warn("snapshot.max_bytes", needs + ", which leave " + human_bytes(config_.snapshot_max_bytes - least) +
                                     " for other snapshots and replies: not enough for all counts at once");
    }
  }

  void warn_of_comb() {
    if (!good({"axis", "detector.pixel_type"}) || !axis_has_comb(config_.pixel_type, config_.axis)) return;
    const AxisSpec& axis = config_.axis;
    const double width = axis.max - axis.min;
    std::string advice;
    // Nearest number of bins that divides the width; none for a width that is no whole number.
    if (width == std::floor(width) && width >= 1) {
      for (std::uint32_t d = 0; d < axis.bins && advice.empty(); ++d) {
        for (const std::uint64_t bins : {std::uint64_t{axis.bins} - d, std::uint64_t{axis.bins} + d}) {
          if (bins <= max_bins && std::fmod(width, static_cast<double>(bins)) == 0 && advice.empty())
            advice = "; " + std::to_string(bins) + " bins would be even";
        }
      }
    }
    warn("axis.bins", "a bin is " + dump_json(Json(width / axis.bins)) +
                          " values wide, so neighbouring bins take different numbers of integer values and a "
                          "flat spectrum looks like a comb" +
                          advice);
  }

  void warn_of_sources() {
    std::map<std::string, std::string> connected;  // socket kind, endpoint and topic; path
    for (std::size_t i = 0; i < config_.sources.size(); ++i) {
      const SourceConfig& source = config_.sources[i];
      const std::string path = source_path(i);
      if (!good({path})) continue;
      if (source.on_full == OnFull::wait && source.socket == SocketKind::sub)
        warn(path + ".on_full",
             "wait on a sub socket: a PUB sender then drops frames unseen, which are known only "
             "as missing; drop counts them here");
      if (source.bind) continue;
      for (const auto& endpoint : source.endpoints) {
        const bool pull = source.socket == SocketKind::pull;
        const auto [other, is_new] = connected.emplace(endpoint + (pull ? "" : " " + source.topic), path);
        if (!is_new && other->second == path && !pull)
          warn(path + ".endpoints",
               "subscribes to " + endpoint +
                   " twice: each frame comes twice, and one of the two is discarded as duplicate; "
                   "only a PUSH sender deals its frames out");
        if (is_new || other->second == path) continue;
        warn(path,
             "connects to " + endpoint + " as " + other->second +
                 (pull ? " does: each frame goes to one of the two only" : " does: both get every frame"));
      }
    }
  }

  const Config& config_;
  const Json& document_;
  const std::set<std::string>& bad_;
  ConfigFindings findings_;
};

}  // namespace

ConfigFindings cross_check(const Config& config, const Json& document, const std::set<std::string>& bad) {
  return Checker(config, document, bad).run();
}

}  // namespace pixhist
