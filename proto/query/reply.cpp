#include "proto/query/reply.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

namespace pixhist {
namespace {

using nlohmann::json;

/// Text of the service's own, or of a client's id: bytes that are no UTF-8 become U+FFFD instead of a throw.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string envelope(const json& id, bool ok, std::string_view key, const json& body) {
  std::string out = R"({"v":1,"id":)";
  out += dump(id);
  out += ok ? R"(,"ok":true,")" : R"(,"ok":false,")";
  out += key;
  out += "\":";
  out += dump(body);
  out += '}';
  return out;
}

template <std::size_t N>
json by_reason(const std::array<std::uint64_t, N>& counts, const std::string_view (&names)[N]) {
  auto out = json::object();
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] > 0) out[std::string(names[i])] = counts[i];
  }
  return out;
}

json run_or_null(const std::string& run) { return run.empty() ? json(nullptr) : json(run); }

json optional_number(const std::optional<std::uint64_t>& number) {
  return number ? json(*number) : json(nullptr);
}

}  // namespace

std::string encode_result(const json& id, json result) { return envelope(id, true, "result", result); }

std::string encode_error(const json& id, ErrorCode code, std::string_view message) {
  const auto& entry = entry_of(code);
  return envelope(id, false, "error",
                  {{"code", entry.name}, {"message", message}, {"retryable", entry.retryable}});
}

json to_json(const FrameAccount& account) {
  return {{"received", account.received()},
          {"accepted", account.accepted},
          {"rejected", by_reason(account.rejected, reject_reason_names)},
          {"dropped", account.dropped},
          {"control", account.control},
          {"in_ring", account.in_ring},
          {"in_flight", account.in_flight},
          {"accumulated", account.accumulated},
          {"discarded", by_reason(account.discarded, discard_reason_names)},
          {"missing", account.missing},
          {"late", account.late},
          {"incomplete", account.incomplete},
          {"restarted", account.restarted},
          {"open", account.open},
          {"received_bytes", account.received_bytes},
          {"pixel_bytes", account.pixel_bytes}};
}

json to_json(const Cut& cut) {
  auto sources = json::object();
  FrameAccount total;
  std::uint64_t pending = 0;
  for (const auto& source : cut.sources) {
    sources[source.source] = {{"run", run_or_null(source.run)},
                              {"frames", source.frames},
                              {"first_frame", optional_number(source.first_frame)},
                              {"last_frame", optional_number(source.last_frame)},
                              {"pending", source.pending},
                              {"saturated", source.saturated},
                              {"account", to_json(source.account)}};
    total += source.account;
    pending += source.pending;
  }
  return {{"run", run_or_null(cut.run)},
          {"state", name_of(cut.state)},
          {"started_at", cut.run.empty() ? json(nullptr) : json(rfc3339(cut.started_at))},
          {"taken_at", rfc3339(cut.taken_at)},
          {"sources", std::move(sources)},
          {"totals", {{"frames", cut.frames()}, {"pending", pending}, {"account", to_json(total)}}},
          {"batches", cut.batches},
          {"saturated", cut.saturated()},
          {"paused_ms", cut.paused_ms}};
}

std::string rfc3339(std::chrono::system_clock::time_point t) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(t);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(ms);
  const std::time_t unix_seconds = std::chrono::system_clock::to_time_t(seconds);
  std::tm utc{};
  gmtime_r(&unix_seconds, &utc);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900,
                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                static_cast<int>((ms - seconds).count()));
  return text.data();
}

std::string_view numpy_dtype(StorageType type) {
  constexpr std::string_view names[] = {"|u1", "<u2", "<u4", "<f4"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace pixhist
