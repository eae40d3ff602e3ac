#include "service/config/check_config.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "proto/json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kind_names[] = {"host", "pinned", "device"};
constexpr MemoryKind kinds[] = {MemoryKind::pinned, MemoryKind::device, MemoryKind::host};

std::string_view name_of_kind(MemoryKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::string line(const std::string& name, std::string_view kind, std::uint64_t bytes) {
  constexpr std::size_t name_width = 60;
  std::string text = "  " + name;
  text.append(text.size() < name_width ? name_width - text.size() : 1, ' ');
  return text + std::string(kind) + std::string(8 - std::min<std::size_t>(kind.size(), 7), ' ') +
         human_bytes(bytes) + "\n";
}

Json items_json(std::span<const MemoryItem> items) {
  Json list = Json::array();
  for (const auto& item : items)
    list.push_back({{"name", item.name}, {"kind", name_of_kind(item.kind)}, {"bytes", item.bytes}});
  return list;
}

/// Sources with a mask_file.
Json masks_json(const Config& config) {
  Json masks = Json::array();
  for (const auto& source : config.sources) {
    if (source.mask.empty()) continue;
    masks.push_back({{"source", source.name},
                     {"file", source.mask_file},
                     {"masked", source.masked_pixels()},
                     {"pixels", source.mask.size()}});
  }
  return masks;
}

std::string masks_text(const Config& config) {
  std::string text;
  for (const auto& source : config.sources) {
    if (source.mask.empty()) continue;
    text += "  " + source.name + ": " + std::to_string(source.masked_pixels()) + " of " +
            std::to_string(source.mask.size()) + " (" + source.mask_file + ")\n";
  }
  return text.empty() ? text : "\nmasked pixels:\n" + text;
}

}  // namespace

std::string check_config_text(const LoadResult& loaded, const MemoryPlan& plan) {
  std::string text = "effective configuration:\n" + loaded.effective_json + "\n";
  if (!loaded.origins.empty()) text += "\nset by:\n";
  for (const auto& [path, origin] : loaded.origins) text += "  " + path + ": " + origin + "\n";
  text += "\nmemory held from the start:\n";
  for (const auto& item : plan.at_start) text += line(item.name, name_of_kind(item.kind), item.bytes);
  for (const auto kind : kinds) text += line("total", name_of_kind(kind), plan.total(kind));
  text += "and up to, as needed:\n";
  for (const auto& item : plan.up_to) text += line(item.name, name_of_kind(item.kind), item.bytes);
  text += masks_text(*loaded.config);
  if (!loaded.warnings.empty()) text += "\nwarnings:\n";
  for (const auto& warning : loaded.warnings) text += "  " + warning.text() + "\n";
  return text + "\nThe configuration is good.\n";
}

std::string check_config_json(const LoadResult& loaded, const MemoryPlan& plan) {
  Json warnings = Json::array();
  for (const auto& warning : loaded.warnings)
    warnings.push_back({{"path", warning.path}, {"what", warning.what}});
  Json j = {{"ok", loaded.errors.empty()}};
  if (!loaded.errors.empty()) {
    j["errors"] = Json::array();
    for (const auto& error : loaded.errors)
      j["errors"].push_back(
          {{"path", error.path}, {"given", error.given}, {"origin", error.origin}, {"rule", error.rule}});
  } else {
    j["config"] = parse_ordered_json(loaded.effective_json);
    j["origins"] = loaded.origins;
    Json total = Json::object();
    j["masks"] = masks_json(*loaded.config);
    for (const auto kind : kinds) total[std::string(name_of_kind(kind))] = plan.total(kind);
    j["memory"] = {
        {"at_start", items_json(plan.at_start)}, {"up_to", items_json(plan.up_to)}, {"total", total}};
  }
  j["warnings"] = warnings;
  return dump_json(j, 2) + "\n";
}

}  // namespace pixhist
