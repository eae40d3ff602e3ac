#pragma once
// Arguments that are good one by one, but not together.

#include <nlohmann/json.hpp>
#include <optional>

#include "proto/query/arguments.hpp"

namespace pixhist {

/// `args`: what `request` was read from.
std::optional<Fault> find_contradiction(const nlohmann::json& args, const Request& request);

}  // namespace pixhist
