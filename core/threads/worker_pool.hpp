#pragma once
// Workers of the CPU twin: plain threads and a barrier. Idle workers sleep on a condition variable and use
// no CPU. One caller at a time (the submit thread); the caller works too and returns when all tiles are done.
// What a tile wrote is visible to the caller after run() and to every tile of the next run().

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace pixhist {

/// CPUs this process may run on (its affinity mask); at least 1.
unsigned usable_cpus();

class WorkerPool {
 public:
  /// `threads` counts the caller: n threads are n - 1 workers, named cpu-worker-1 … in `top -H`.
  /// 0: one per usable CPU. Throws std::system_error if a thread cannot be started.
  explicit WorkerPool(unsigned threads = 0);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;  // the workers hold its address
  WorkerPool& operator=(const WorkerPool&) = delete;

  unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls fn(tile) once for each tile in [0, tiles), on any thread and in any order, and waits for all.
  /// fn must not throw (it would end the process) and must not call run().
  template <class Fn>
  void run(std::size_t tiles, Fn&& fn) {
    using Callable = std::remove_reference_t<Fn>;
    const Job job{[](void* context, std::size_t tile) { (*static_cast<Callable*>(context))(tile); },
                  const_cast<void*>(static_cast<const void*>(std::addressof(fn))), tiles};
    run_job(job);
  }

 private:
  struct Job {
    void (*call)(void* context, std::size_t tile) = nullptr;
    void* context = nullptr;
    std::size_t tiles = 0;
  };

  void run_job(const Job& job);
  void work(const Job& job) noexcept;
  void worker_loop();
  void stop() noexcept;

  std::mutex mutex_;
  std::condition_variable round_begins_;
  std::condition_variable round_ends_;
  Job job_;                  // guarded by mutex_, as the three below
  std::uint64_t round_ = 0;  // rounds begun
  std::size_t busy_ = 0;     // workers that have not finished the round
  bool stopping_ = false;
  alignas(64) std::atomic<std::size_t> next_tile_{0};
  std::vector<std::thread> workers_;
};

}  // namespace pixhist
