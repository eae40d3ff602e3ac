#include "service/config/config_loader.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "proto/json.hpp"
#include "service/config/config_builder.hpp"
#include "service/config/config_checks.hpp"
#include "service/config/config_fields.hpp"
#include "service/config/config_layers.hpp"
#include "service/config/config_values.hpp"
#include "service/config/mask_file.hpp"
#include "service/config/strict_json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view environment_prefix = "PIXHIST__";
constexpr std::size_t shown_setting_bytes = 120;

/// False if nothing can be known of what the file says.
bool add_file(const std::string& path, ConfigLayers& layers, std::vector<ConfigError>& errors) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    const std::string why = errno != 0 ? std::strerror(errno) : "it is empty or not a file";
    errors.push_back({path, "", "--config", "the file cannot be read: " + why});
    return false;
  }
  const auto json = parse_strict_json(text.str());
  for (const auto& error : json.errors) {
    const std::string where =
        "line " + std::to_string(error.line) + ", column " + std::to_string(error.column);
    errors.push_back({error.key.empty() ? where : error.key, "", path,
                      error.key.empty() ? error.what : error.what + " at " + where});
  }
  if (json.parsed) layers.add_document(json.value, path);
  return json.parsed;
}

/// PIXHIST__SOURCES__0__NAME -> sources.0.name
std::string path_of_variable(std::string_view name) {
  std::string path;
  name.remove_prefix(environment_prefix.size());
  while (true) {
    const auto end = name.find("__");
    for (const char c : name.substr(0, end))
      path += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (end == std::string_view::npos) return path;
    path += '.';
    name.remove_prefix(end + 2);
  }
}

/// Source 10 behind source 9, so that each may begin the next; a group before the keys in it.
bool set_before(const std::string& a, const std::string& b) {
  std::istringstream left(a);
  std::istringstream right(b);
  std::string x;
  std::string y;
  while (true) {
    const bool more_left = static_cast<bool>(std::getline(left, x, '.'));
    const bool more_right = static_cast<bool>(std::getline(right, y, '.'));
    if (!more_left || !more_right) return !more_left && more_right;
    const bool numbers = x.find_first_not_of("0123456789") == std::string::npos &&
                         y.find_first_not_of("0123456789") == std::string::npos;
    if (numbers && x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
}

void add_environment(const std::vector<std::pair<std::string, std::string>>& environment,
                     ConfigLayers& layers) {
  struct Variable {
    std::string path, name, value;
  };
  std::vector<Variable> variables;
  for (const auto& [name, value] : environment) {
    if (name.compare(0, environment_prefix.size(), environment_prefix) == 0)
      variables.push_back({path_of_variable(name), name, value});
  }
  std::stable_sort(variables.begin(), variables.end(),
                   [](const Variable& a, const Variable& b) { return set_before(a.path, b.path); });
  for (const auto& variable : variables) layers.add_text(variable.path, variable.value, variable.name);
}

void add_flags(const std::vector<std::string>& flags, ConfigLayers& layers,
               std::vector<ConfigError>& errors) {
  for (const auto& flag : flags) {
    const auto equals = flag.find('=');
    if (equals == std::string::npos || equals == 0) {
      errors.push_back({"--set", json_text(flag, shown_setting_bytes), "",
                        "allowed: --set key=value, as batch.frames=64"});
      continue;
    }
    layers.add_text(std::string_view(flag).substr(0, equals), std::string_view(flag).substr(equals + 1),
                    "--set");
  }
}

Json::json_pointer pointer_to(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return Json::json_pointer("/" + path);
}

/// The document of all keys, and what of it was refused.
class Document {
 public:
  Document(const ConfigLayers& layers, std::vector<ConfigError>& errors) : layers_(layers), errors_(errors) {
    bool sources_done = false;
    for (const auto& field : config_fields()) {
      if (field.path.find('*') == std::string_view::npos) {
        add(field, std::string(field.path), 0);
      } else if (!sources_done) {
        sources_done = true;
        for (std::size_t i = 0; i < layers.sources(); ++i) add_source(i);
      }
    }
  }

  const Json& values() const { return values_; }
  const std::set<std::string>& bad() const { return bad_; }

 private:
  void add_source(std::size_t index) {
    for (const auto& field : config_fields()) {
      const auto star = field.path.find('*');
      if (star == std::string_view::npos) continue;
      std::string path(field.path);
      add(field, path.replace(star, 1, std::to_string(index)), index);
    }
  }

  void add(const ConfigField& field, const std::string& path, std::size_t index) {
    Json value = parse_ordered_json(default_json(field, index));
    if (const auto setting = layers_.settings().find(path); setting != layers_.settings().end()) {
      if (const auto rule = refusal(field, setting->second.value)) {
        errors_.push_back(
            {path, json_text(setting->second.value, shown_setting_bytes), setting->second.origin, *rule});
        bad_.insert(path);
      } else {
        value = setting->second.value;
      }
    }
    values_[pointer_to(path)] = std::move(value);
  }

  const ConfigLayers& layers_;
  std::vector<ConfigError>& errors_;
  Json values_;
  std::set<std::string> bad_;
};

bool about_shape(const ConfigError& error, const std::string& source) {
  return error.path == source + ".shape" || error.path.compare(0, 8, "detector") == 0;
}

/// Reads the mask of each source whose shape none of `errors` and `findings` is about.
void load_masks(Config& config, const std::vector<ConfigError>& errors, std::vector<ConfigError>& findings) {
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    auto& source = config.sources[i];
    const std::string path = "sources." + std::to_string(i);
    const auto of_shape = [&](const ConfigError& error) { return about_shape(error, path); };
    if (source.mask_file.empty() || std::any_of(errors.begin(), errors.end(), of_shape) ||
        std::any_of(findings.begin(), findings.end(), of_shape))
      continue;
    auto read = read_mask_file(source.mask_file, source.shape);
    if (auto* mask = std::get_if<std::vector<std::uint8_t>>(&read))
      source.mask = std::move(*mask);
    else
      findings.push_back({path + ".mask_file", json_text(source.mask_file, shown_setting_bytes), "",
                          std::get<std::string>(read)});
  }
}

std::string origin_of(const std::string& path, const ConfigLayers& layers) {
  // The origin of a group is that of the first of its keys that was set.
  const auto setting = layers.settings().lower_bound(path);
  if (setting == layers.settings().end()) return "default";
  const std::string& key = setting->first;
  const bool below = key.size() > path.size() && key.compare(0, path.size() + 1, path + ".") == 0;
  return key == path || below ? setting->second.origin : "default";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_environment(const char* const* environment) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    const auto equals = entry.find('=');
    if (entry.substr(0, environment_prefix.size()) != environment_prefix || equals == std::string_view::npos)
      continue;
    variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

std::string LoadResult::error_text() const {
  std::string text;
  for (const auto& error : errors) text += error.text() + "\n";
  return text;
}

LoadResult load_config(const ConfigInput& input) {
  LoadResult result;
  ConfigLayers layers(result.errors);
  const bool file_known = !input.file || add_file(*input.file, layers, result.errors);
  if (!file_known) layers.any_source_index();
  add_environment(input.environment, layers);
  add_flags(input.set, layers, result.errors);

  const Document document(layers, result.errors);
  Config config = build_config(document.values());
  if (file_known) {  // else what keys say together is not known
    auto findings = cross_check(config, document.values(), document.bad());
    load_masks(config, result.errors, findings.errors);
    for (auto& error : findings.errors) {
      error.origin = origin_of(error.path, layers);
      result.errors.push_back(std::move(error));
    }
    result.warnings = std::move(findings.warnings);
  }
  for (const auto& [path, setting] : layers.settings()) result.origins[path] = setting.origin;
  if (result.errors.empty()) {
    result.effective_json = dump_json(resolved_document(document.values(), config), 2);
    result.config = std::move(config);
  }
  return result;
}

}  // namespace pixhist
