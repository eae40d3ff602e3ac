#pragma once
// Wakes one sleeping thread. ring() costs one atomic load while nobody sleeps, so a receive thread may call
// it for every frame.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pixhist {

class Doorbell {
 public:
  /// Any thread. Call after the work is visible (committed, queued).
  void ring() {
    // Pairs with the fence in wait(): either we see the sleeper, or it sees the work before it sleeps.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!sleeping_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    rung_ = true;
    wake_.notify_one();
  }

  /// The one sleeper. `work_visible` is asked once more after the sleep is announced.
  template <class WorkVisible>
  void wait(std::chrono::nanoseconds at_most, WorkVisible&& work_visible) {
    sleeping_.store(true, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!work_visible()) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, at_most, [this] { return rung_; });
    }
    const std::lock_guard lock(mutex_);
    sleeping_.store(false, std::memory_order_relaxed);
    rung_ = false;
  }

 private:
  std::atomic<bool> sleeping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool rung_ = false;
};

}  // namespace pixhist
