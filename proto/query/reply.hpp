#pragma once
// Replies: the JSON head of each answer. Binary parts are sent behind it by the transport, untouched.

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "core/account/frame_account.hpp"
#include "core/model/pixel_type.hpp"
#include "core/snapshot/cut.hpp"
#include "proto/error_catalog.hpp"

namespace pixhist {

std::string encode_result(const nlohmann::json& id, nlohmann::json result);
std::string encode_error(const nlohmann::json& id, ErrorCode code, std::string_view message);

/// Keys: received accepted rejected{reason} dropped control in_ring in_flight accumulated discarded{reason}
/// missing late incomplete restarted open received_bytes pixel_bytes. Reasons that never occurred are left
/// out.
nlohmann::json to_json(const FrameAccount& account);

/// run, state, started_at, taken_at (RFC 3339 UTC, milliseconds), sources{name: {...}}, totals, batches,
/// saturated, paused_ms.
nlohmann::json to_json(const Cut& cut);

/// "2026-01-31T12:00:00.123Z"
std::string rfc3339(std::chrono::system_clock::time_point t);

/// NumPy dtype strings with byte order: |u1 <u2 <u4 <f4.
std::string_view numpy_dtype(StorageType type);

}  // namespace pixhist
