#include "service/logging/rate_limited_log.hpp"

#include <spdlog/logger.h>

#include <utility>
#include <vector>

namespace pixhist {
namespace {

constexpr std::string_view other = "other";

std::string times(std::uint64_t n) { return std::to_string(n) + (n == 1 ? " time" : " times"); }

}  // namespace

RateLimitedLog::RateLimitedLog(spdlog::logger& logger, std::chrono::nanoseconds interval,
                               std::size_t max_keys)
    : logger_(logger), interval_(interval), max_keys_(max_keys) {}

void RateLimitedLog::log(LogLevel level, std::string_view source, std::string_view reason,
                         std::string_view message, std::chrono::nanoseconds now) {
  std::uint64_t left_out = 0;
  {
    Key key(source, reason);
    const std::lock_guard lock(mutex_);
    if (states_.size() >= max_keys_ && states_.find(key) == states_.end()) key = Key(other, other);
    const auto [at, is_new] = states_.try_emplace(std::move(key), State{level, now, 0});
    if (!is_new) {
      State& state = at->second;
      if (now - state.written < interval_) {
        ++state.left_out;
        return;
      }
      left_out = std::exchange(state.left_out, 0);
      state = {level, now, 0};
    }
  }
  std::string line = std::string(source) + ": " + std::string(message) + " (" + std::string(reason);
  if (left_out > 0) line += "; " + times(left_out) + " more since the last line";
  write(level, line + ")");
}

void RateLimitedLog::flush(std::chrono::nanoseconds now, bool all) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, state] : states_) {
      if (state.left_out == 0 || (!all && now - state.written < interval_)) continue;
      lines.emplace_back(state.level, key.first + ": " + key.second + ", " + times(state.left_out) +
                                          " more since the last line");
      state.left_out = 0;
      state.written = now;
    }
  }
  for (const auto& [level, line] : lines) write(level, line);
}

void RateLimitedLog::write(LogLevel level, const std::string& line) const {
  switch (level) {
    case LogLevel::info: logger_.info(line); break;
    case LogLevel::warn: logger_.warn(line); break;
    case LogLevel::error: logger_.error(line); break;
  }
}

}  // namespace pixhist
