#include "proto/query/reply.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

#include "proto/json.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

std::string envelope(const json& id, bool ok, std::string_view key, const json& body) {
  std::string out = R"({"v":1,"id":)";
  out += dump_json(id);
  out += ok ? R"(,"ok":true,")" : R"(,"ok":false,")";
  out += key;
  out += "\":";
  out += dump_json(body);
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

// Every answer carries these, for every source. Put in one by one: a braced list makes an array of each key
// and its value first, which took most of the time of a small answer.

json to_json(const FrameAccount& account) {
  auto out = json::object();
  out.emplace("received", account.received());
  out.emplace("accepted", account.accepted);
  out.emplace("rejected", by_reason(account.rejected, reject_reason_names));
  out.emplace("dropped", account.dropped);
  out.emplace("control", account.control);
  out.emplace("in_ring", account.in_ring);
  out.emplace("in_flight", account.in_flight);
  out.emplace("accumulated", account.accumulated);
  out.emplace("discarded", by_reason(account.discarded, discard_reason_names));
  out.emplace("missing", account.missing);
  out.emplace("late", account.late);
  out.emplace("incomplete", account.incomplete);
  out.emplace("restarted", account.restarted);
  out.emplace("open", account.open);
  out.emplace("received_bytes", account.received_bytes);
  out.emplace("pixel_bytes", account.pixel_bytes);
  return out;
}

json to_json(const Cut& cut) {
  auto sources = json::object();
  FrameAccount total;
  std::uint64_t pending = 0;
  for (const auto& source : cut.sources) {
    auto out = json::object();
    out.emplace("run", run_or_null(source.run));
    out.emplace("frames", source.frames);
    out.emplace("first_frame", optional_number(source.first_frame));
    out.emplace("last_frame", optional_number(source.last_frame));
    out.emplace("pending", source.pending);
    out.emplace("saturated", source.saturated);
    out.emplace("account", to_json(source.account));
    sources[source.source] = std::move(out);
    total += source.account;
    pending += source.pending;
  }
  auto totals = json::object();
  totals.emplace("frames", cut.frames());
  totals.emplace("pending", pending);
  totals.emplace("account", to_json(total));
  auto out = json::object();
  out.emplace("run", run_or_null(cut.run));
  out.emplace("state", name_of(cut.state));
  out.emplace("started_at", cut.run.empty() ? json(nullptr) : json(rfc3339(cut.started_at)));
  out.emplace("taken_at", rfc3339(cut.taken_at));
  out.emplace("sources", std::move(sources));
  out.emplace("totals", std::move(totals));
  out.emplace("batches", cut.batches);
  out.emplace("saturated", cut.saturated());
  out.emplace("paused_ms", cut.paused_ms);
  return out;
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
