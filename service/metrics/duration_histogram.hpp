#pragma once
// A histogram of durations that a data thread may write while a scrape reads it: plain atomics, no lock.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pixhist {

/// Upper bounds in seconds; the top one exceeds every time-out of the service. Beyond it: +Inf.
inline constexpr std::array<double, 17> duration_bounds{
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60};

class DurationHistogram {
 public:
  void observe(std::chrono::nanoseconds d) {
    const double seconds = std::chrono::duration<double>(d).count();
    std::size_t i = 0;
    while (i < duration_bounds.size() && seconds > duration_bounds[i]) ++i;
    buckets_[i].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(static_cast<std::uint64_t>(d.count() < 0 ? 0 : d.count()), std::memory_order_relaxed);
  }

  /// Not cumulative; the last is the +Inf bucket.
  std::uint64_t bucket(std::size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }
  double sum_seconds() const { return static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) * 1e-9; }

 private:
  std::array<std::atomic<std::uint64_t>, duration_bounds.size() + 1> buckets_{};
  std::atomic<std::uint64_t> sum_ns_{0};
};

}  // namespace pixhist
