#include <doctest/doctest.h>

#include "tests/service/agents/submit_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;
using std::chrono::milliseconds;

TEST_CASE("a read without barrier is true of what was submitted before it") {
  SubmitBench bench;
  for (std::uint64_t n = 0; n < 6; ++n) bench.send(n);
  bench.run_until_idle();  // one batch of four; two frames are pending
  bench.push(bench.read(Rect{0, 2, 0, 3}, false));
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  const auto& result = bench.results[0];
  CHECK(result.cut.sources[0].frames == 4);
  CHECK(result.cut.sources[0].pending == 2);
  CHECK(result.cut.sources[0].first_frame == 0);
  CHECK(result.cut.sources[0].last_frame == 3);
  CHECK(result.snapshot->counts.as<std::uint32_t>()[1] == 4);
}

TEST_CASE("a fresh read has everything committed before it, and no more") {
  SubmitBench bench;
  for (std::uint64_t n = 0; n < 6; ++n) bench.send(n);
  bench.push(bench.read(Rect{0, 2, 0, 3}, true));
  bench.agent->step();
  for (std::uint64_t n = 6; n < 9; ++n) bench.send(n);
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.results[0].cut.sources[0].frames >= 6);
  CHECK(bench.results[0].cut.sources[0].frames == bench.results[0].snapshot->counts.as<std::uint32_t>()[1]);
}

TEST_CASE("commands that take long and keep coming leave frames their turn") {
  SubmitBench bench;
  int asked = 0;
  std::function<void()> ask = [&] {
    if (++asked > 20) return;
    Command read = bench.read(Rect{0, 2, 0, 3}, false);
    read.askers = {{"client", [&](const CommandResult&) {
                      bench.clock.advance(milliseconds(1));  // that long it took
                      ask();                                 // the next one is there at once
                    }}};
    bench.push(std::move(read));
  };
  ask();
  for (std::uint64_t n = 0; n < 4; ++n) bench.send(n);
  CHECK(bench.agent->step());
  CHECK(asked == 2);
  CHECK(bench.account().accumulated == 4);
  bench.run_until_idle();
  CHECK(asked == 21);
}

TEST_CASE("short commands are executed one behind the other") {
  SubmitBench bench;
  for (int i = 0; i < 4; ++i) bench.push(bench.read(Rect{0, 2, 0, 3}, false));
  bench.agent->step();
  CHECK(bench.results.size() == 4);
}

TEST_CASE("a snapshot is assembled over sources; pixels of no source read 0") {
  SubmitBench bench({1, 1});
  bench.send(0, 5, 0);
  bench.send(0, 7, 1);
  bench.push(
      bench.read(Rect{1, 2, 2, 8}, true));  // last column of the first, all of the second, two of nobody
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  const auto counts = bench.results[0].snapshot->counts.as<std::uint32_t>();
  for (std::size_t col = 0; col < 6; ++col) {
    for (std::size_t bin = 0; bin < 16; ++bin) {
      const std::uint32_t expected = (col == 0 && bin == 5) || (col >= 1 && col <= 3 && bin == 7) ? 1 : 0;
      CHECK(counts[col * 16 + bin] == expected);
    }
  }
}

TEST_CASE("reset opens a new run, zeroed; the reply carries the last cut") {
  SubmitBench bench;
  for (std::uint64_t n = 0; n < 5; ++n) bench.send(n);
  const auto run = bench.board.info().run;
  bench.push(bench.command(CommandKind::reset));
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.results[0].cut.run == run);
  CHECK(bench.results[0].cut.sources[0].frames == 5);
  CHECK(bench.results[0].cut.sources[0].account.accumulated == 5);
  CHECK(bench.results[0].run != run);
  CHECK(bench.count(1) == 0);
  bench.send(5);
  bench.push(bench.read(Rect{0, 1, 0, 1}, true));
  bench.run_until_idle();
  const auto& cut = bench.results.back().cut;
  CHECK(cut.sources[0].frames == 1);
  CHECK(cut.sources[0].account.accumulated == 1);
  CHECK(cut.sources[0].account.accepted == 1);
  CHECK(cut.sources[0].first_frame == 5);
  CHECK(cut.batches == 1);
  CHECK(bench.account().accumulated == 6);  // the lifetime ledger never falls
}

TEST_CASE("then_reset: slices add up") {
  SubmitBench bench;
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < 30; ++n) {
    bench.send(n);
    if (n % 7 == 0) {
      auto command = bench.read(Rect{0, 1, 0, 1}, true);
      command.then_reset = true;
      bench.push(std::move(command));
    }
    bench.run_until_idle();
  }
  bench.push(bench.read(Rect{0, 1, 0, 1}, true));
  bench.run_until_idle();
  for (const auto& result : bench.results) sum += result.snapshot->counts.as<std::uint32_t>()[1];
  CHECK(sum == 30);
}

TEST_CASE("stop is a barrier; frames are then discarded until start, which zeroes") {
  SubmitBench bench;
  bench.send(0);
  bench.push(bench.command(CommandKind::stop));
  bench.run_until_idle();
  CHECK(bench.board.state() == RunState::stopped);
  CHECK(bench.results[0].cut.sources[0].frames == 1);
  CHECK(bench.results[0].changed);
  bench.send(1);
  bench.send(2);
  bench.run_until_idle();
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::stop)] == 2);
  CHECK(bench.account().in_ring == 0);
  CHECK(bench.lanes[0]->ring.used_bytes() == 0);
  CHECK(bench.count(1) == 1);  // counts stay readable
  bench.push(bench.command(CommandKind::stop));
  bench.run_until_idle();
  CHECK_FALSE(bench.results[1].changed);
  bench.send(3);  // before start: discarded
  bench.push(bench.command(CommandKind::start));
  bench.run_until_idle();
  CHECK(bench.board.state() == RunState::running);
  CHECK(bench.count(1) == 0);
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::stop)] == 3);
  bench.push(bench.command(CommandKind::start));
  bench.run_until_idle();
  CHECK_FALSE(bench.results.back().changed);
  CHECK(bench.account().missing == 0);  // discarded numbers were seen
}

TEST_CASE("without autostart the service is stopped") {
  SubmitBench bench({1}, {}, false);
  CHECK(bench.board.state() == RunState::stopped);
  bench.send(0);
  bench.run_until_idle();
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::stop)] == 1);
}

TEST_CASE("a lost device answers everything that waits and throws") {
  SubmitBench bench;
  bench.pipeline->lost = true;
  bench.push(bench.read(Rect{0, 1, 0, 1}, true));
  bench.push(bench.command(CommandKind::reset));
  bench.send(0);
  CHECK_THROWS_AS(bench.run_until_idle(), DeviceLost);
  REQUIRE(bench.results.size() == 2);
  CHECK(bench.results[0].device_lost);
  CHECK(bench.results[1].device_lost);
  CHECK(bench.board.state() == RunState::device_lost);
}

TEST_CASE("draining covers the state but not what happens to frames") {
  SubmitBench bench;
  bench.push(bench.command(CommandKind::stop));
  bench.run_until_idle();
  bench.board.set_draining();
  CHECK(bench.board.state() == RunState::draining);
  bench.send(0);
  CHECK(bench.agent->drain([] { return false; }));
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::stop)] == 1);
}

TEST_CASE("frames that wait in the ring at a reset belong to the new run, with their bytes") {
  SubmitBench bench;
  bench.send(0);
  bench.push(bench.command(CommandKind::reset));
  bench.agent->step();  // the barrier is set: what comes now is behind it
  bench.send(1);
  bench.run_until_idle();
  bench.push(bench.read(Rect{0, 1, 0, 1}, true));
  bench.run_until_idle();
  const auto& account = bench.results.back().cut.sources[0].account;
  CHECK(account.accepted == account.accumulated);
  CHECK(account.pixel_bytes == 12 * account.accepted);
}
