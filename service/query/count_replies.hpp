#pragma once
// Replies to count ops: what the submit thread has read, or a held cut, made into the answer. Pure functions.

#include <optional>
#include <string>

#include "core/model/value_axis.hpp"
#include "core/snapshot/snapshot.hpp"
#include "proto/query/request.hpp"
#include "service/query/query_replies.hpp"

namespace pixhist {

/// values, pixel, spectrum, image, moments.
struct CountAnswer {
  const Request& request;
  SnapshotPtr from;                                   // what read_of() said, or a held cut
  SnapshotPtr since;                                  // null: the request names none
  std::optional<std::string> held_id = std::nullopt;  // under which `from` is held from now on
};

/// Arrays come from `memory`. Throws std::invalid_argument where a held cut does not hold what was asked for,
/// RunChanged, std::bad_alloc.
Reply count_reply(const CountAnswer& answer, const AxisSpec& axis, HostMemory& memory);

}  // namespace pixhist
