#include "core/threads/worker_pool.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace pixhist;

TEST_CASE("every tile runs once, for any number of threads and tiles") {
  for (const unsigned threads : {1U, 2U, 3U, 7U}) {
    WorkerPool pool(threads);
    CHECK_EQ(pool.threads(), threads);
    for (const std::size_t tiles : {0, 1, 2, 5, 1000}) {
      std::vector<int> runs(tiles);
      pool.run(tiles, [&](std::size_t tile) { ++runs[tile]; });
      CHECK_EQ(std::count(runs.begin(), runs.end(), 1), static_cast<std::ptrdiff_t>(tiles));
    }
  }
}

TEST_CASE("a round sees what the last one wrote, whoever runs the tile") {
  WorkerPool pool(4);
  // Two rows in turn; each tile reads its mirror image in the row of the round before.
  std::vector<std::uint64_t> rows[2] = {std::vector<std::uint64_t>(64), std::vector<std::uint64_t>(64)};
  for (std::size_t round = 0; round < 500; ++round) {
    const auto& last = rows[round % 2];
    auto& next = rows[(round + 1) % 2];
    pool.run(64, [&](std::size_t tile) { next[tile] = last[63 - tile] + 1; });
  }
  CHECK(rows[0] == std::vector<std::uint64_t>(64, 500));
}

TEST_CASE("0 threads: one per usable CPU") {
  CHECK_GE(usable_cpus(), 1);
  CHECK_EQ(WorkerPool(0).threads(), usable_cpus());
}

TEST_CASE("workers are named and the caller works too") {
  WorkerPool pool(3);
  std::mutex mutex;
  std::condition_variable all_here;
  std::set<std::string> names;
  std::set<std::thread::id> ids;
  // Each of three tiles waits for the other two, so that three threads must take part.
  pool.run(3, [&](std::size_t) {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    std::unique_lock lock(mutex);
    ids.insert(std::this_thread::get_id());
    names.insert(name);
    all_here.notify_all();
    all_here.wait(lock, [&] { return ids.size() == 3; });
  });
  CHECK_EQ(ids.count(std::this_thread::get_id()), 1);
  CHECK_EQ(names.count("cpu-worker-1"), 1);
  CHECK_EQ(names.count("cpu-worker-2"), 1);
}

TEST_CASE("idle workers use no CPU") {
  WorkerPool pool(4);
  pool.run(16, [](std::size_t) {});
  const auto cpu_ms = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK_LT(cpu_ms() - before, 20);
}
