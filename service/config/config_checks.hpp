#pragma once
// Checks that need more than one key.

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "service/config/config.hpp"
#include "service/config/config_error.hpp"

namespace pixhist {

struct ConfigFindings {
  std::vector<ConfigError> errors;
  std::vector<ConfigWarning> warnings;
};

/// `document`: every key as given or at its default, before nulls are resolved; `bad`: key paths whose value
/// was refused and is at its default in `config`, so that nothing is concluded from it. The origins of the
/// errors are left empty.
ConfigFindings cross_check(const Config& config, const nlohmann::ordered_json& document,
                           const std::set<std::string>& bad);

}  // namespace pixhist
