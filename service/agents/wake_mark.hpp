#pragma once
// From how many records in its ring on the submit thread wants to be woken: while a batch fills, not by every
// frame. One setting and one asking thread; what is set before a sleep and what is committed before asking
// are never both missed: each side does a read-modify-write in between, so one of the two sees the other.

#include <atomic>
#include <cstdint>

namespace pixhist {

class WakeMark {
 public:
  /// Submit thread, before it looks at the ring a last time and sleeps: `records` committed since the start.
  void set(std::uint64_t records) { records_.exchange(records, std::memory_order_acq_rel); }

  /// Receive thread, after a commit: whether the submit thread is to be woken.
  bool reached(std::uint64_t committed) {
    return committed >= records_.fetch_add(0, std::memory_order_acq_rel);
  }

  /// Receive thread, after the commit of what is not to wait for a batch to fill: that is the last of
  /// `committed` records.
  void hurry(std::uint64_t committed) { hurried_.store(committed, std::memory_order_release); }
  /// Submit thread: whether such a record is behind the first `taken`.
  bool hurried(std::uint64_t taken) const { return hurried_.load(std::memory_order_acquire) > taken; }

 private:
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> hurried_{0};
};

}  // namespace pixhist
