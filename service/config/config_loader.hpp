#pragma once
// From file, environment and command line to the typed configuration, or to all that is wrong at once.
// A flag beats the environment beats the file beats the default.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/config/config.hpp"
#include "service/config/config_error.hpp"

namespace pixhist {

struct ConfigInput {
  std::optional<std::string> file;                               // its path
  std::vector<std::pair<std::string, std::string>> environment;  // name, value; see read_environment()
  std::vector<std::string> set;                                  // "a.b=c", in the order given
};

/// The variables PIXHIST__* of a process environment as main() and POSIX `environ` give it.
std::vector<std::pair<std::string, std::string>> read_environment(const char* const* environment);

struct LoadResult {
  std::optional<Config> config;  // present if and only if there are no errors
  std::vector<ConfigError> errors;
  std::vector<ConfigWarning> warnings;
  /// Every key with its value, nulls resolved where the start decides nothing: loading it gives the same.
  std::string effective_json;
  /// Where each key came from that is not at its default's own place.
  std::map<std::string, std::string> origins;

  /// All errors, one a line, each ending in a line feed.
  std::string error_text() const;
};

LoadResult load_config(const ConfigInput& input);

}  // namespace pixhist
