#include "service/config/config_layers.hpp"

#include <charconv>

#include "proto/text.hpp"
#include "service/config/config_fields.hpp"
#include "service/config/config_values.hpp"
#include "service/config/strict_json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_layer_bytes = 120;  // of a value in an error
constexpr std::size_t shown_key_bytes = 120;    // of a key that is none
constexpr std::string_view list_prefix = "sources.";

std::string key_list(const std::vector<std::string>& keys) {
  std::string text;
  for (const auto& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

}  // namespace

void ConfigLayers::add_document(const Json& document, const std::string& origin) {
  set("", document, origin);
}

void ConfigLayers::add_text(std::string_view path, std::string_view text, const std::string& origin) {
  if (path.substr(0, list_prefix.size()) == list_prefix && !source_index_allowed(path, origin)) return;
  if (const auto* field = find_field(pattern_of(path))) {
    settings_[std::string(path)] = {value_from_text(*field, text), origin};
    return;
  }
  if (child_keys(pattern_of(path)).empty() || path.empty()) {
    unknown(std::string(path), origin);
    return;
  }
  const auto json = parse_strict_json(text);
  for (const auto& error : json.errors) {
    if (!error.key.empty()) errors_.push_back({std::string(path) + "." + error.key, "", origin, error.what});
  }
  set(std::string(path), json.parsed ? json.value : Json(std::string(text)), origin);
}

void ConfigLayers::set(const std::string& path, const Json& value, const std::string& origin) {
  const std::string pattern = pattern_of(path);
  if (find_field(pattern) != nullptr) {
    settings_[path] = {value, origin};
    return;
  }
  if (path == "sources") {
    set_sources(value, origin);
    return;
  }
  const auto keys = child_keys(pattern);
  if (keys.empty()) {
    unknown(path, origin);
    return;
  }
  if (!value.is_object()) {
    errors_.push_back({path.empty() ? "the configuration" : path, json_text(value, shown_layer_bytes), origin,
                       "allowed: an object with the keys " + key_list(keys)});
    return;
  }
  for (const auto& [key, child] : value.items()) {
    const std::string child_path = path.empty() ? key : path + "." + key;
    if (key.find('.') != std::string::npos || key.empty() || key == "*") {
      errors_.push_back({printable(child_path, shown_key_bytes), "", origin,
                         "unknown key; in a file keys are nested, not joined by dots"});
    } else {
      set(child_path, child, origin);
    }
  }
}

void ConfigLayers::set_sources(const Json& value, const std::string& origin) {
  if (!value.is_array() || value.empty() || value.size() > max_sources) {
    const bool too_many = value.is_array() && !value.empty();
    errors_.push_back({"sources", json_text(value, shown_layer_bytes), origin,
                       (too_many ? "which has " + std::to_string(value.size()) + " elements; " : "") +
                           "allowed: a list of 1 to " + std::to_string(max_sources) + " objects" +
                           (too_many ? ". Let a second service take the rest of the detector" : "")});
    return;
  }
  const auto first = settings_.lower_bound(std::string(list_prefix));
  auto last = first;
  while (last != settings_.end() && last->first.compare(0, list_prefix.size(), list_prefix) == 0) ++last;
  settings_.erase(first, last);
  sources_ = value.size();
  for (std::size_t i = 0; i < value.size(); ++i) set("sources." + std::to_string(i), value[i], origin);
}

bool ConfigLayers::source_index_allowed(std::string_view path, const std::string& origin) {
  const auto rest = path.substr(list_prefix.size());
  const auto digits = rest.substr(0, rest.find('.'));
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool canonical =
      error == std::errc() && end == digits.data() + digits.size() && std::to_string(index) == digits;
  const std::size_t next = any_index_ ? max_sources - 1 : sources_;
  if (!canonical || index > next || index >= max_sources) {
    const std::size_t highest = next < max_sources ? next : max_sources - 1;
    errors_.push_back({std::string(path), "", origin,
                       "no such source; allowed: an index from 0 to " + std::to_string(highest) +
                           (highest == sources_ ? ", the last of which begins a new one" : "")});
    return false;
  }
  const bool known = find_field(pattern_of(path)) != nullptr || !child_keys(pattern_of(path)).empty();
  if (known && index >= sources_) sources_ = index + 1;
  return true;
}

void ConfigLayers::unknown(const std::string& path, const std::string& origin) {
  const auto near = nearest_key(path);
  errors_.push_back(
      {path.empty() ? "\"\"" : printable(path, shown_key_bytes), "", origin,
       near ? "unknown key; did you mean " + *near + "?" : "unknown key; --print-schema lists all"});
}

}  // namespace pixhist
