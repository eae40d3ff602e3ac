#pragma once
// Layers of settings laid over each other: what is set later wins. Knows keys, not values: the values that
// won are checked by the loader.

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "service/config/config_error.hpp"

namespace pixhist {

struct Setting {
  nlohmann::ordered_json value;
  std::string origin;
};

class ConfigLayers {
 public:
  /// Errors go to `errors`, which outlives this.
  explicit ConfigLayers(std::vector<ConfigError>& errors) : errors_(errors) {}

  /// A whole document: a "sources" list in it replaces the list so far.
  void add_document(const nlohmann::ordered_json& document, const std::string& origin);
  /// One key, or a group or the whole list as JSON. "sources.<n>.…" may begin source n if it is the next one.
  void add_text(std::string_view path, std::string_view text, const std::string& origin);
  /// After a file that could not be parsed: which sources there are is not known, any index is taken.
  void any_source_index() { any_index_ = true; }

  /// By concrete key path.
  const std::map<std::string, Setting>& settings() const { return settings_; }
  std::size_t sources() const { return sources_; }

 private:
  void set(const std::string& path, const nlohmann::ordered_json& value, const std::string& origin);
  void set_sources(const nlohmann::ordered_json& value, const std::string& origin);
  bool source_index_allowed(std::string_view path, const std::string& origin);
  void unknown(const std::string& path, const std::string& origin);

  std::vector<ConfigError>& errors_;
  std::map<std::string, Setting> settings_;
  std::size_t sources_ = 1;  // the default has one
  bool any_index_ = false;
};

}  // namespace pixhist
