#pragma once
// The documents of `status` and `info`: the same for the query port and HTTP. Any thread.

#include <nlohmann/json.hpp>

#include "service/status/service_view.hpp"

namespace pixhist {

/// State, both ledgers per source, rates, queue depths, memory, held cuts, last errors, mismatches.
nlohmann::json status_document(const ServiceView& view);

/// What never changes while the process lives: version, geometry, axis, sources, limits, ops.
nlohmann::json info_document(const ServiceView& view);

}  // namespace pixhist
