#pragma once
// Requests as the service understands them: parsed, checked against the detector, nothing left to doubt.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "core/model/value_axis.hpp"
#include "proto/error_catalog.hpp"

namespace pixhist {

inline constexpr std::size_t max_request_bytes = 64 * 1024;

enum class Op : std::uint8_t {
  info,
  status,
  values,
  pixel,
  edges,
  centers,
  reset,
  start,
  stop,
  snapshot,
  release,
  ping,
  spectrum,
  image,
  moments,
  // Known, answered not_built in this version:
  save,
  runs
};

/// image: what is computed of each pixel's bins.
enum class Statistic : std::uint8_t { sum, mean, std, median, mode, max };
inline constexpr std::string_view statistic_names[] = {"sum", "mean", "std", "median", "mode", "max"};
constexpr std::string_view name_of(Statistic s) { return statistic_names[static_cast<std::size_t>(s)]; }

/// What ranges are checked against.
struct RequestLimits {
  FrameShape detector;
  AxisSpec axis;  // a valid one
};

struct Request {
  nlohmann::json id;  // string, integer or null; echoed in the reply
  Op op = Op::ping;
  // Count ops: what is asked for; defaults: everything, u32. pixel: roi is that one pixel. A range has become
  // bins.
  Rect roi;
  BinRange bins;
  StorageType dtype = StorageType::u32;
  std::uint32_t rebin = 1;                       // values; a divisor of bins.size()
  Statistic statistic = Statistic::sum;          // image
  std::optional<std::uint32_t> max_px;           // image; at least 1
  bool fresh = false;                            // a barrier before the cut
  bool then_reset = false;                       // values only
  bool pause = false;                            // values only
  std::optional<std::string> snapshot;           // a held cut (count ops, release)
  std::optional<std::string> since;              // a held cut, the counts of which are taken off (count ops)
  std::optional<std::chrono::milliseconds> ttl;  // snapshot
  std::string name;                              // start: free text kept with the run
};

struct RequestError {
  nlohmann::json id;
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// Never throws for any bytes. Unknown keys, ops and arguments are errors that name them.
std::variant<Request, RequestError> parse_request(std::span<const std::byte> bytes,
                                                  const RequestLimits& limits);

/// True for ops (and arguments) that change the run: they need query.allow_control.
bool is_control(const Request& request);

std::string_view name_of(Op op);

/// The ops with their argument schemas, for `info`. Unbuilt ones are marked.
nlohmann::json op_schemas();

}  // namespace pixhist
