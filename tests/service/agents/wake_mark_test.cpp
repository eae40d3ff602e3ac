// The submit thread is woken when a batch can be full, when a mark has come, and for the first frame of a
// batch; not by each frame of it.
#include "service/agents/wake_mark.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "service/agents/doorbell.hpp"
#include "tests/service/agents/submit_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

/// Whether a receive thread that has just committed would ring.
bool would_ring(SubmitBench& bench, std::size_t lane = 0) {
  auto& of = *bench.lanes[lane];
  return of.wake.reached(of.ring.committed());
}

/// Goes to sleep as the submit thread does when it has nothing to do; nobody wakes it, so it is back soon.
void sleep(SubmitBench& bench) {
  bench.run_until_idle();
  bench.agent->wait();
}

}  // namespace

TEST_CASE("while a batch fills, only the frame that may fill it wakes the submit thread") {
  SubmitBench bench;  // batches of four frames
  sleep(bench);
  bench.send(0);
  CHECK(would_ring(bench));
  sleep(bench);
  bench.send(1);
  CHECK_FALSE(would_ring(bench));
  bench.send(2);
  CHECK_FALSE(would_ring(bench));
  bench.send(3);
  CHECK(would_ring(bench));
  sleep(bench);
  CHECK(bench.account().accumulated == 4);
  bench.send(4);
  CHECK(would_ring(bench));
}

TEST_CASE("every ring has a mark of its own") {
  SubmitBench bench({1, 1});
  bench.send(0, 1, 0);
  sleep(bench);
  bench.send(1, 1, 0);
  bench.send(0, 1, 1);
  CHECK_FALSE(would_ring(bench, 0));
  CHECK(would_ring(bench, 1));
}

TEST_CASE("a mark behind a batch that fills is not slept through") {
  // Asleep, the thread would come back after 100 ms, each time.
  constexpr int rounds = 300;
  SubmitBench bench;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    bench.send(static_cast<std::uint64_t>(i));
    bench.run_until_idle();
    auto& lane = *bench.lanes[0];
    REQUIRE(bench.send_end(0, {}, static_cast<std::uint64_t>(i) + 1));
    lane.wake.hurry(lane.ring.committed());
    bench.agent->wait();
    bench.run_until_idle();
    REQUIRE(bench.account().accumulated == static_cast<std::uint64_t>(i) + 1);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("what is set before a sleep and committed before asking is never both missed") {
  Doorbell bell;
  WakeMark mark;
  std::atomic<std::uint64_t> committed{0};
  constexpr std::uint64_t records = 4000;
  std::thread sleeper([&] {
    for (std::uint64_t taken = 0; taken < records;) {
      const std::uint64_t wanted = std::min(records, taken + 1 + taken % 3);
      mark.set(wanted);
      bell.wait(std::chrono::hours(1), [&] { return committed.load() >= wanted; });
      taken = committed.load();
    }
  });
  for (std::uint64_t i = 1; i <= records; ++i) {
    committed.store(i, std::memory_order_release);
    if (mark.reached(i)) bell.ring();
    if (i % 5 == 0) std::this_thread::yield();
  }
  sleeper.join();
  CHECK(committed.load() == records);
}
