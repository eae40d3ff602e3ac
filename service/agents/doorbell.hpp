#pragma once
// Wakes one sleeping thread. ring() costs one atomic operation while nobody sleeps, so a receive thread may
// call it for every frame.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pixhist {

class Doorbell {
 public:
  /// Any thread. Call after the work is visible (committed, queued).
  void ring() {
    // Read-modify-write, as is the one in wait(), so that one of the two sees the other: either we see the
    // sleeper, or it sees the work before it sleeps. (A fence would do, but ThreadSanitizer knows none.)
    if (sleeping_.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    const std::lock_guard lock(mutex_);
    rung_ = true;
    wake_.notify_one();
  }

  /// The one sleeper. `work_visible` is asked once more after the sleep is announced.
  template <class WorkVisible>
  void wait(std::chrono::nanoseconds at_most, WorkVisible&& work_visible) {
    sleeping_.exchange(1, std::memory_order_acq_rel);
    if (!work_visible()) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, at_most, [this] { return rung_; });
    }
    const std::lock_guard lock(mutex_);
    sleeping_.store(0, std::memory_order_relaxed);
    rung_ = false;
  }

 private:
  std::atomic<int> sleeping_{0};  // 0 or 1
  std::mutex mutex_;
  std::condition_variable wake_;
  bool rung_ = false;
};

}  // namespace pixhist
