#include "tools/player/player_report.hpp"

#include <algorithm>

#include "proto/json.hpp"

namespace pixhist {

namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(PlayerReport::StoppedBy by) {
  switch (by) {
    case PlayerReport::StoppedBy::frames: return "frames";
    case PlayerReport::StoppedBy::duration: return "seconds";
    case PlayerReport::StoppedBy::signal: break;
  }
  return "signal";
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const AccountNumbers& account) {
  Json json{{"received", account.received},
            {"control", account.control},
            {"accepted", account.accepted},
            {"accumulated", account.accumulated}};
  json["rejected"] = Json::object();
  for (const auto& [reason, count] : account.rejected) json["rejected"][reason] = count;
  json["discarded"] = {{"duplicate", account.duplicate}, {"stale_run", account.stale_run}};
  json["late"] = account.late;
  json["missing"] = account.missing;
  json["open"] = account.open;
  json["restarted"] = account.restarted;
  json["exact"] = account.inexact.empty();
  if (!account.inexact.empty()) json["inexact_because"] = account.inexact;
  return json;
}

Json json_of(const PlayerReport& report) {
  const double per_second = report.seconds > 0 ? 1 / report.seconds : 0;
  Json json{{"run", report.run}, {"frames", report.frames}, {"bytes", report.bytes}};
  json["first_frame"] = or_null(report.first_frame);
  json["last_frame"] = or_null(report.last_frame);
  json["began_monotonic_s"] = or_null(report.began);
  json["seconds"] = report.seconds;
  json["frames_per_s"] = static_cast<double>(report.messages) * per_second;
  json["gigabytes_per_s"] = static_cast<double>(report.bytes) * 1e-9 * per_second;
  json["runs"] = report.runs;
  json["numbers"] = report.numbers;
  json["messages"] = report.messages;
  json["refused"] = report.refused;
  json["reordered"] = report.reordered;
  json["incomplete"] = report.incomplete;
  for (const auto& row : frame_fault_table) json[row.key] = report.of(row.fault);
  json["end_marks"] = report.end_marks;
  json["end_sent"] = report.end_sent;
  json["flushed"] = report.flushed;
  json["stopped_by"] = name_of(report.stopped_by);
  json["row"] = report.row;
  json["column"] = report.column;
  json["endpoints"] = report.endpoints;
  json["expected_account"] = json_of(report.expected_account);
  return json;
}

template <class T, class Choose>
T chosen(T a, T b, Choose choose) {
  return a && b ? choose(*a, *b) : a ? a : b;
}

template <class T>
std::optional<T> lower(std::optional<T> a, std::optional<T> b) {
  return chosen(a, b, [](auto x, auto y) { return std::min(x, y); });
}

std::optional<std::uint64_t> higher(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return chosen(a, b, [](auto x, auto y) { return std::max(x, y); });
}

void add(PlayerReport& sum, const PlayerReport& module) {
  sum.endpoints.insert(sum.endpoints.end(), module.endpoints.begin(), module.endpoints.end());
  sum.runs = std::max(sum.runs, module.runs);
  sum.numbers += module.numbers;
  sum.frames += module.frames;
  sum.messages += module.messages;
  sum.bytes += module.bytes;
  sum.first_frame = lower(sum.first_frame, module.first_frame);
  sum.last_frame = higher(sum.last_frame, module.last_frame);
  for (std::size_t i = 0; i < frame_fault_count; ++i) sum.faults[i] += module.faults[i];
  sum.refused += module.refused;
  sum.reordered += module.reordered;
  sum.incomplete += module.incomplete;
  sum.end_marks += module.end_marks;
  sum.began = lower(sum.began, module.began);
  sum.seconds = std::max(sum.seconds, module.seconds);
  sum.end_sent = sum.end_sent && module.end_sent;
  sum.flushed = sum.flushed && module.flushed;
  sum.stopped_by = std::max(sum.stopped_by, module.stopped_by);
  sum.expected_account += module.expected_account;
}

}  // namespace

void PlayerReport::note_frame(std::uint64_t number) {
  ++frames;
  first_frame = lower(first_frame, std::optional(number));
  last_frame = higher(last_frame, number);
}

std::string PlayerReport::to_json() const { return dump_json(json_of(*this)); }

PlayerReport sum_of(const std::vector<PlayerReport>& modules) {
  PlayerReport sum;
  if (modules.empty()) return sum;
  sum.run = modules.front().run;
  sum.end_sent = sum.flushed = true;
  for (const auto& module : modules) add(sum, module);
  return sum;
}

std::string to_json(const std::vector<PlayerReport>& modules) {
  auto json = json_of(sum_of(modules));
  json.erase("row");
  json.erase("column");
  json["modules"] = Json::array();
  for (const auto& module : modules) json["modules"].push_back(json_of(module));
  return dump_json(json);
}

}  // namespace pixhist
