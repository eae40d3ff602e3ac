#pragma once
// The documents of `status` and `info`: the same for the query port and HTTP. Any thread.

#include <nlohmann/json.hpp>

#include "service/status/service_view.hpp"

namespace pixhist {

/// Where a source lies now: {"origin", "flip_rows", "from"}; null and "unknown yet" until a header says it.
nlohmann::json place_json(const ServiceView& view, std::size_t source, const std::optional<Place>& place);

/// State, both ledgers per source, rates, queue depths, memory, held cuts, last errors, mismatches.
nlohmann::json status_document(const ServiceView& view);

/// What hardly changes while the process lives: version, geometry, axis, sources, limits, ops. Places that
/// come from headers fill in once.
nlohmann::json info_document(const ServiceView& view);

}  // namespace pixhist
