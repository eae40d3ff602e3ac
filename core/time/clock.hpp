#pragma once
// Time is injected, so that tests turn the hands themselves. Thread safety: now() and wall() from any thread.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pixhist {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Steady: for ages, deadlines, durations.
  virtual std::chrono::nanoseconds now() const = 0;
  /// Wall clock: for people.
  virtual std::chrono::system_clock::time_point wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  std::chrono::system_clock::time_point wall() const override { return std::chrono::system_clock::now(); }
};

/// Milliseconds since 1970, as counters can hold them.
inline std::uint64_t unix_milliseconds(std::chrono::system_clock::time_point t) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count());
}

/// Stands still until advanced. Both clocks move together.
class ManualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return std::chrono::nanoseconds(ns_.load()); }
  std::chrono::system_clock::time_point wall() const override {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(now()));
  }
  void advance(std::chrono::nanoseconds by) { ns_.fetch_add(by.count()); }

 private:
  std::atomic<std::int64_t> ns_{1'000'000'000};
};

}  // namespace pixhist
