#include <doctest/doctest.h>

#include "tests/service/agents/submit_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;
using std::chrono::milliseconds;

TEST_CASE("a batch closes at its number of frames") {
  SubmitBench bench;
  for (std::uint64_t n = 0; n < 3; ++n) bench.send(n);
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 0);
  CHECK(bench.account().in_flight == 3);
  bench.send(3);
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 4);
  CHECK(bench.count(1) == 4);
  CHECK(bench.lanes[0]->ring.used_bytes() == 0);
  CHECK(bench.pipeline_board.batches.get() == 1);
}

TEST_CASE("a batch closes at the age of its first frame, not before") {
  SubmitBench bench;
  bench.send(0);
  bench.clock.advance(milliseconds(150));
  bench.send(1);
  bench.run_until_idle();
  bench.clock.advance(milliseconds(49));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 0);
  bench.clock.advance(milliseconds(1));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 2);
}

TEST_CASE("a batch closes at the wrap of the ring and at its bytes") {
  SubmitBench bench({1}, {1000, 64, milliseconds(200)});
  for (std::uint64_t n = 0; n < 5; ++n) bench.send(n);
  bench.run_until_idle();
  // 16 bytes a record: four fill the 64 bytes, the fifth waits for its age.
  CHECK(bench.account().accumulated == 4);
  CHECK(bench.account().in_flight == 1);
}

TEST_CASE("two batches may be unfinished, the rest waits in the ring") {
  SubmitBench bench;
  bench.pipeline->held = true;
  for (std::uint64_t n = 0; n < 20; ++n) REQUIRE(bench.send(n));
  for (int i = 0; i < 10; ++i) bench.agent->step();
  CHECK(bench.pipeline_board.batches.get() == 2);
  CHECK(bench.account().accumulated == 0);
  CHECK(bench.lanes[0]->ring.used_bytes() == 20 * 16);
  bench.pipeline->held = false;
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 20);
  CHECK(bench.lanes[0]->ring.used_bytes() == 0);
}

TEST_CASE("duplicates are discarded and never binned, wherever they stand in a batch") {
  SubmitBench bench;
  bench.send(0);
  bench.send(0, 2);  // masked inside the batch
  bench.send(1);
  bench.send(2);
  bench.run_until_idle();
  bench.send(2, 2);  // at the head: nothing to mask it in
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  const auto account = bench.account();
  CHECK(account.accumulated == 3);
  CHECK(account.discarded[static_cast<std::size_t>(DiscardReason::duplicate)] == 2);
  CHECK(account.in_ring + account.in_flight == 0);
  CHECK(bench.count(1) == 3);
  CHECK(bench.count(2) == 0);
  CHECK(bench.lanes[0]->ring.used_bytes() == 0);
}

TEST_CASE("a frame the decode stage found bad is discarded") {
  SubmitBench bench;
  bench.pipeline->bad_ticket = 1;
  for (std::uint64_t n = 0; n < 4; ++n) bench.send(n);
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 3);
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::decode)] == 1);
}

TEST_CASE("an end mark counts the tail and waits for the other rings of its source") {
  SubmitBench bench({2});
  const RunKey run = make_run_key("a");
  bench.send(0, 1, 0, run);
  bench.send(1, 1, 1, run);
  bench.send(3, 1, 1, run);
  REQUIRE(bench.send_end(0, run, 6));
  bench.run_until_idle();
  bench.clock.advance(milliseconds(199));  // the age of a batch is 200
  bench.run_until_idle();
  CHECK(bench.account().open == 1);
  CHECK(bench.account().missing == 0);
  bench.clock.advance(milliseconds(1));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 3);
  CHECK(bench.account().missing == 3);  // 2 by number, 4 and 5 by the sender's total
  CHECK(bench.account().open == 0);
  CHECK(bench.lanes[0]->ring.used_bytes() == 0);
}

TEST_CASE("an end mark waits for frames that still come through other sockets") {
  SubmitBench bench({3});
  const RunKey run = make_run_key("a");
  bench.send(0, 1, 0, run);
  REQUIRE(bench.send_end(0, run, 8));
  REQUIRE(bench.send_end(1, run, 8));
  bench.send(100, 1, 0, make_run_key("b"));
  for (std::uint64_t n = 1; n < 8; ++n) {
    bench.send(n, 1, 2, run);
    bench.run_until_idle();
    bench.clock.advance(milliseconds(100));
  }
  bench.run_until_idle();
  CHECK(bench.account().missing == 0);
  SUBCASE("until they have a mark too") { REQUIRE(bench.send_end(2, run, 8)); }
  SUBCASE("until they are quiet") { bench.clock.advance(milliseconds(200)); }
  bench.run_until_idle();
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 9);
  CHECK(bench.account().missing == 0);
  CHECK(bench.account().discarded_total() == 0);
  CHECK(bench.account().restarted == 0);  // all marks together ended the sequence once
  for (const auto& lane : bench.lanes) CHECK(lane->ring.used_bytes() == 0);
}

TEST_CASE("an end mark does not wait for ever for sockets that never fall silent") {
  SubmitBench bench({2});
  bench.send(0, 1, 0);
  REQUIRE(bench.send_end(0, {}, 0));
  for (std::uint64_t n = 1; n < 10; ++n) {
    bench.send(n, 1, 1);
    bench.run_until_idle();
    bench.clock.advance(milliseconds(100));
    CHECK(bench.lanes[0]->ring.available() == 1);
  }
  bench.clock.advance(milliseconds(100));
  bench.send(10, 1, 1);
  bench.run_until_idle();
  CHECK(bench.lanes[0]->ring.available() == 0);
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 11);
  CHECK(bench.account().missing == 0);
}

TEST_CASE("what comes behind a barrier keeps no mark waiting that lies before it") {
  SubmitBench bench({2});
  bench.send(0, 1, 0);
  REQUIRE(bench.send_end(0, {}, 0));
  bench.push(bench.read(Rect{0, 2, 0, 3}, true));
  bench.run_until_idle();
  for (std::uint64_t n = 1; n <= 2; ++n) {
    CHECK(bench.results.empty());
    bench.clock.advance(milliseconds(100));
    bench.send(n, 1, 1);
    bench.run_until_idle();
  }
  CHECK(bench.results.size() == 1);
}

TEST_CASE("a mark for the run after is not taken with that of the run before") {
  SubmitBench bench({2});
  const RunKey a = make_run_key("a");
  const RunKey b = make_run_key("b");
  bench.send(0, 1, 0, a);
  REQUIRE(bench.send_end(0, a, 1));
  bench.send(0, 1, 0, b);
  REQUIRE(bench.send_end(1, b, 2));
  bench.run_until_idle();
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 2);
  CHECK(bench.account().missing == 1);
}

TEST_CASE("an end mark that is repeated and lags does not stand for that of the next run") {
  SubmitBench bench({2});
  const RunKey a = make_run_key("a");
  const RunKey b = make_run_key("b");
  for (const std::size_t lane : {0, 1}) {
    bench.send(lane, 1, lane, a);
    bench.send_end(lane, a, 2);
  }
  bench.run_until_idle();
  bench.send(0, 1, 0, b);
  bench.send_end(0, b, 2);
  bench.send_end(1, a, 2);  // once more
  bench.run_until_idle();
  CHECK(bench.account().missing == 0);
  bench.send(1, 1, 1, b);
  bench.send_end(1, b, 2);
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 4);
  CHECK(bench.account().missing == 0);
}

TEST_CASE("marks in two rings at once do not lock each other") {
  SubmitBench bench({2, 1});
  const RunKey run = make_run_key("a");
  bench.send(0, 1, 0, run);
  bench.send_end(0, run, 2);
  bench.send(1, 1, 1, run);
  bench.send_end(1, run, 2);
  bench.send(7, 1, 2);
  bench.push(bench.read(Rect{0, 2, 0, 6}, true));  // and a barrier across both
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.account().accumulated == 2);
  CHECK(bench.account().missing == 0);
  CHECK(bench.account(1).accumulated == 1);
}

TEST_CASE("a barrier met while a mark waits behind it does not lock") {
  SubmitBench bench({2});
  const RunKey run = make_run_key("a");
  for (std::uint64_t n = 0; n < 3; ++n) bench.send(n, 1, 1, run);
  bench.send(3, 1, 0, run);
  bench.send_end(0, run, 6);
  bench.send(9, 1, 0, run);
  bench.pipeline->held = true;
  bench.push(bench.read(Rect{0, 2, 0, 3}, true));
  for (int i = 0; i < 3; ++i) bench.agent->step();
  for (std::uint64_t n = 4; n < 6; ++n)
    bench.send(n, 1, 1, run);  // behind the barrier, before the mark is met
  bench.pipeline->held = false;
  bench.run_until_idle();
  bench.clock.advance(milliseconds(200));  // the mark waits for the other ring
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.results[0].cut.sources[0].frames >= 5);
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 7);
}

TEST_CASE("drain submits what the rings hold and ends the sequences") {
  SubmitBench bench;
  bench.send(0);
  bench.send(4);
  CHECK(bench.agent->drain([] { return false; }));
  CHECK(bench.account().accumulated == 2);
  CHECK(bench.account().missing == 3);
  CHECK(bench.counts[0]->frames() == 2);
}

TEST_CASE("a drain that is cut short says so and leaves the account true") {
  SubmitBench bench;
  bench.pipeline->held = true;
  for (std::uint64_t n = 0; n < 20; ++n) bench.send(n);
  int asked = 0;
  CHECK_FALSE(bench.agent->drain([&] { return ++asked > 20; }));
  const auto account = bench.account();
  CHECK(account.accumulated == 0);
  CHECK(account.in_ring + account.in_flight == 20);
}

TEST_CASE("frames dealt to several rings are taken in the order of receipt, whatever has piled up") {
  SubmitBench bench({3}, {255, 1 << 20, milliseconds(200)}, true, 1 << 17, 4096);
  // One sender deals numbers round robin; far more per ring than the window of 1024 numbers is wide.
  constexpr std::uint64_t frames = 9000;
  for (std::uint64_t n = 0; n < frames; ++n) {
    REQUIRE(bench.send(n, 1, n % 3));
    bench.clock.advance(std::chrono::microseconds(1));
  }
  bench.run_until_idle();
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  const auto account = bench.account();
  CHECK(account.accumulated == frames);
  CHECK(account.discarded_total() == 0);
  CHECK(account.missing == 0);
  CHECK(account.late == 0);
  CHECK(account.restarted == 0);
}

TEST_CASE("a ring that stands at a mark or a barrier does not hold up the others of its source") {
  SubmitBench bench({2});
  const RunKey run = make_run_key("a");
  bench.send(0, 1, 0, run);
  bench.send_end(0, run, 3);
  bench.clock.advance(milliseconds(1));
  bench.send(1, 1, 1, run);
  bench.send(2, 1, 1, run);
  bench.run_until_idle();
  bench.clock.advance(milliseconds(200));
  bench.run_until_idle();
  CHECK(bench.account().accumulated == 3);
  CHECK(bench.account().missing == 0);
}

TEST_CASE("incomplete frames are counted where they are accumulated, not where they are discarded") {
  SubmitBench bench;
  bench.send(0);
  bench.send(1, 1, 0, {}, 0);
  bench.send(1, 1, 0, {}, 0);  // a duplicate
  bench.send(2, 1, 0, {}, 0);
  bench.run_until_idle();
  bench.push(bench.read({0, 2, 0, 3}, true));
  bench.run_until_idle();
  CHECK(bench.account().incomplete == 2);
  CHECK(bench.results.at(0).cut.sources[0].account.incomplete == 2);
  bench.push(bench.command(CommandKind::reset));
  bench.push(bench.read({0, 2, 0, 3}, true));
  bench.run_until_idle();
  CHECK(bench.results.at(2).cut.sources[0].account.incomplete == 0);
  CHECK(bench.account().incomplete == 2);
}
