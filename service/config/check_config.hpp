#pragma once
// What --check-config says: the effective configuration, the memory it takes, and what looks wrong.

#include <string>

#include "service/config/config_loader.hpp"
#include "service/config/memory_plan.hpp"

namespace pixhist {

/// For people. `loaded` has no errors; `plan` belongs to its configuration.
std::string check_config_text(const LoadResult& loaded, const MemoryPlan& plan);

/// {"ok", "config", "origins", "masks", "memory": {"at_start", "up_to", "total"}, "warnings"} or, with
/// errors,
/// {"ok": false, "errors": [{"path", "given", "origin", "rule"}], "warnings"}; ends in a line feed.
std::string check_config_json(const LoadResult& loaded, const MemoryPlan& plan);

}  // namespace pixhist
