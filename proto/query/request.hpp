#pragma once
// Requests as the service understands them: parsed, checked against the detector, nothing left to doubt.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "proto/error_catalog.hpp"

namespace pixhist {

inline constexpr std::size_t max_request_bytes = 64 * 1024;

enum class Op : std::uint8_t {
  info, status, values, pixel, edges, centers, reset, start, stop, snapshot, release, ping,
  // Known, answered not_built in this version:
  spectrum, image, moments, save, runs
};

/// What ranges are checked against.
struct RequestLimits {
  FrameShape detector;
  std::uint32_t bins = 0;
};

struct Request {
  nlohmann::json id;  // string, integer or null; echoed in the reply
  Op op = Op::ping;
  // values, snapshot: what is asked for; defaults: everything, u32. pixel: roi is that one pixel.
  Rect roi;
  BinRange bins;
  StorageType dtype = StorageType::u32;
  bool fresh = false;                   // a barrier before the cut
  bool then_reset = false;              // values only
  std::optional<std::string> snapshot;  // a held cut (count ops, release)
  std::optional<std::chrono::milliseconds> ttl;  // snapshot
  std::string name;                     // start: free text kept with the run
};

struct RequestError {
  nlohmann::json id;
  ErrorCode code = ErrorCode::internal;
  std::string message;
};

/// Never throws for any bytes. Unknown keys, ops and arguments are errors that name them.
std::variant<Request, RequestError> parse_request(std::span<const std::byte> bytes, const RequestLimits& limits);

/// True for ops (and arguments) that change the run: they need query.allow_control.
bool is_control(const Request& request);

std::string_view name_of(Op op);

/// The ops with their argument schemas, for `info`. Unbuilt ones are marked.
nlohmann::json op_schemas();

}  // namespace pixhist
