#pragma once
// Replies to count ops: the JSON head and the binary parts, made from snapshots. Pure functions.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/snapshot/snapshot.hpp"
#include "proto/query/request.hpp"
#include "service/agents/closed_runs.hpp"
#include "service/config/config.hpp"
#include "service/query/held_snapshots.hpp"
#include "service/transport/query_socket.hpp"

namespace pixhist {

struct Reply {
  std::string head;
  std::vector<SharedBytes> parts;
  std::optional<ErrorCode> error;  // set for an error reply, for the metrics
};

Reply error_reply(const nlohmann::json& id, ErrorCode code, const std::string& message);
Reply result_reply(const nlohmann::json& id, nlohmann::json result);

nlohmann::json roi_json(const Rect& roi);

/// The lower edge of the first bin and the upper edge of the last.
nlohmann::json range_json(const AxisSpec& axis, BinRange bins);

/// Says which held cut was taken off, if any was (`since` not null).
void add_since(nlohmann::json& result, const Request& request, const SnapshotPtr& since);

/// values: (rows, cols, cells) of the snapshot's window.
Reply values_reply(const Request& request, const SnapshotPtr& snapshot, const SnapshotPtr& since,
                   const std::optional<std::string>& held_id, const AxisSpec& axis);

/// pixel: a snapshot of one pixel, all bins, u32, with flow.
Reply pixel_reply(const Request& request, const SnapshotPtr& snapshot, const SnapshotPtr& since);

/// snapshot: what is held, and what of it.
Reply snapshot_reply(const Request& request, const HeldSnapshot& held);

/// runs: the closed runs that can be asked for.
nlohmann::json runs_json(const ClosedRuns& closed);

/// edges, centers: computed in the axis type, sent as <f8.
Reply axis_reply(const Request& request, const AxisSpec& axis);

}  // namespace pixhist
