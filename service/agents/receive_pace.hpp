#pragma once
// How a receive thread waits. To be woken for each message costs more than to receive a small one; so where
// small messages come often, the thread sleeps until a lot of them has come instead.
// One receive thread's own.

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace pixhist {

class ReceivePace {
 public:
  using Duration = std::chrono::nanoseconds;

  /// Sleeps until about `lot` messages have come, at most `longest`. A lot below 2: never.
  ReceivePace(std::size_t lot, Duration longest) : lot_(lot), longest_(longest) {}

  /// Call when there is nothing more to receive, before each wait: messages since the wait before, the time.
  void drained(std::size_t messages, Duration now) {
    came_ = messages != 0;
    if (messages == 0) return;
    const auto interval = std::min((now - last_) / static_cast<Duration::rep>(messages), longest_);
    interval_ += (interval - interval_) / 4;  // a few lots' memory
    last_ = now;
  }

  /// How long to sleep before looking again; zero: wait for the next message, which is not expected soon.
  Duration nap() const {
    if (!came_ || lot_ < 2 || interval_ * 2 > longest_) return Duration::zero();
    return std::min(interval_ * static_cast<Duration::rep>(lot_), longest_);
  }

 private:
  const std::size_t lot_;
  const Duration longest_;
  Duration interval_ = longest_;  // between messages; never above longest_
  Duration last_{};
  bool came_ = false;
};

/// For frames of so many bytes on a socket that queues `receive_hwm` messages: a lot fills neither that queue
/// nor a core's cache, and is there long before the batch it goes into is due.
inline ReceivePace receive_pace(std::size_t frame_bytes, std::size_t receive_hwm,
                                ReceivePace::Duration batch_max_age) {
  constexpr std::size_t most = 32;
  constexpr std::size_t cache = std::size_t{1} << 20;
  const std::size_t lot = std::min({most, receive_hwm / 8, cache / std::max<std::size_t>(frame_bytes, 1)});
  return {lot, std::min<ReceivePace::Duration>(batch_max_age / 20, std::chrono::milliseconds(10))};
}

}  // namespace pixhist
