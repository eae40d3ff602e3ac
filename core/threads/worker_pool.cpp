#include "core/threads/worker_pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <string>

namespace pixhist {

unsigned usable_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // Fails where the machine has more CPUs than cpu_set_t holds (1024); hardware_concurrency knows them then.
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return static_cast<unsigned>(CPU_COUNT(&mask));
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? n : 1;
}

WorkerPool::WorkerPool(unsigned threads) {
  const unsigned wanted = threads > 0 ? threads : usable_cpus();
  try {
    for (unsigned i = 1; i < wanted; ++i) {
      workers_.emplace_back([this] { worker_loop(); });
      const std::string name = "cpu-worker-" + std::to_string(i);
      pthread_setname_np(workers_.back().native_handle(), name.substr(0, 15).c_str());
    }
  } catch (...) {
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  round_begins_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void WorkerPool::run_job(const Job& job) {
  next_tile_.store(0, std::memory_order_relaxed);
  if (workers_.empty() || job.tiles < 2) {
    work(job);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    busy_ = workers_.size();
    ++round_;
  }
  round_begins_.notify_all();
  work(job);
  std::unique_lock lock(mutex_);
  round_ends_.wait(lock, [this] { return busy_ == 0; });
}

void WorkerPool::work(const Job& job) noexcept {
  for (;;) {
    const std::size_t tile = next_tile_.fetch_add(1, std::memory_order_relaxed);
    if (tile >= job.tiles) return;
    job.call(job.context, tile);
  }
}

void WorkerPool::worker_loop() {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    round_begins_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    const Job job = job_;
    lock.unlock();
    work(job);
    lock.lock();
    if (--busy_ == 0) round_ends_.notify_one();
  }
}

}  // namespace pixhist
