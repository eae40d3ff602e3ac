#pragma once
// What the query thread counts, for the metrics. Plain atomics.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "proto/error_catalog.hpp"
#include "proto/query/request.hpp"
#include "service/metrics/duration_histogram.hpp"

namespace pixhist {

/// Ops by index of enum Op; the last place is for requests that never became one.
inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::runs) + 1;

struct QueryStats {
  /// [op][0 = ok, 1 + ErrorCode]
  std::array<std::array<std::atomic<std::uint64_t>, error_catalog.size() + 1>, op_count + 1> requests{};
  std::array<DurationHistogram, op_count + 1> seconds;
  std::atomic<std::uint64_t> replies_dropped_slow{0};  // the client does not read
  std::atomic<std::uint64_t> replies_dropped_gone{0};  // the client has left
  std::atomic<std::uint64_t> shared{0};                // answered of a read that another request asked for
  std::atomic<std::uint64_t> pending{0};               // a gauge: accepted, not yet answered

  void count(std::optional<Op> op, std::optional<ErrorCode> error, std::chrono::nanoseconds took) {
    const std::size_t o = op ? static_cast<std::size_t>(*op) : op_count;
    requests[o][error ? 1 + static_cast<std::size_t>(*error) : 0].fetch_add(1, std::memory_order_relaxed);
    seconds[o].observe(took);
  }
};

}  // namespace pixhist
