#pragma once
// Repeated events are counted, not repeated: at most one line per interval and key (source, reason), with the
// number of those left out since. Any thread; one short lock, never held while a line is written.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace spdlog {
class logger;
}

namespace pixhist {

enum class LogLevel : std::uint8_t { info, warn, error };

class RateLimitedLog {
 public:
  /// `logger` outlives this. Beyond max_keys all further keys share one.
  explicit RateLimitedLog(spdlog::logger& logger, std::chrono::nanoseconds interval = std::chrono::seconds(1),
                          std::size_t max_keys = 1024);
  RateLimitedLog(const RateLimitedLog&) = delete;  // shared by threads
  RateLimitedLog& operator=(const RateLimitedLog&) = delete;

  /// Writes `source: message (reason)` or counts it. `now`: the injected steady clock.
  void log(LogLevel level, std::string_view source, std::string_view reason, std::string_view message,
           std::chrono::nanoseconds now);

  /// Writes one line for each key whose events were left out and whose interval is over, so that a burst is
  /// told in full though nothing follows it. To be called now and then, and with `all` at the end.
  void flush(std::chrono::nanoseconds now, bool all = false);

 private:
  struct State {
    LogLevel level = LogLevel::warn;
    std::chrono::nanoseconds written{};
    std::uint64_t left_out = 0;
  };
  using Key = std::pair<std::string, std::string>;

  void write(LogLevel level, const std::string& line) const;

  // Constant after construction.
  spdlog::logger& logger_;
  const std::chrono::nanoseconds interval_;
  const std::size_t max_keys_;

  std::mutex mutex_;
  std::map<Key, State> states_;  // under mutex_
};

}  // namespace pixhist
