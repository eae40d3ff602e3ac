// runs.policy per_run: where a run ends, what its final cut holds, and that nothing is lost between two runs.
#include <doctest/doctest.h>

#include "tests/service/agents/per_run_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("per_run: an end mark closes the run, zeroes the source and keeps the cut") {
  PerRunBench bench;
  const auto first = bench.board.info().run;
  bench.send_run(0, a, 6, 1);
  bench.send_end(0, a);
  bench.run_until_idle();
  REQUIRE(bench.closed_log == std::vector<std::string>{first});
  CHECK(bench.closed.last()->end == RunEnd::marks);
  CHECK(bench.closed_count(1) == 6);
  CHECK(bench.closed_cut().frames == 6);
  CHECK(bench.closed_cut().run == first);
  CHECK(bench.closed_cut().account.accumulated == 6);
  CHECK(bench.closed.last()->snapshot->cut.batches == 2);
  CHECK(bench.count(1) == 0);

  const Cut between = bench.live();
  CHECK(between.run == "");
  CHECK(between.sources[0].run == "");
  CHECK(between.frames() == 0);

  bench.clock.advance(seconds(5));
  bench.send_run(0, b, 3, 2);
  const Cut next = bench.live();
  CHECK(next.run.ends_with("-0002"));
  CHECK(next.sources[0].run == next.run);
  CHECK(next.started_at == bench.clock.wall());
  CHECK(next.sources[0].frames == 3);
  CHECK(next.sources[0].account.accepted == 3);
  CHECK(next.batches == 1);
  CHECK(bench.closed_count(1) == 6);  // as it was
  CHECK(bench.account().accumulated == 9);
}

TEST_CASE("per_run: frames behind the mark are of the next run, in account and counts") {
  PerRunBench bench;
  bench.send_run(0, a, 5, 1);
  bench.send_end(0, a);
  bench.send_run(0, b, 7, 2);
  bench.run_until_idle();
  const auto& account = bench.closed_cut().account;
  CHECK(account.accepted == 5);
  CHECK(account.accumulated == 5);
  CHECK(account.in_ring == 0);
  CHECK(account.pixel_bytes == 5 * 12);
  CHECK(bench.closed_cut().pending == 0);
  CHECK(bench.closed_cut().last_frame == 4);
  const Cut next = bench.live();
  CHECK(next.sources[0].account.accepted == 7);
  CHECK(next.sources[0].account.pixel_bytes == 7 * 12);
  CHECK(next.sources[0].frames == 7);
  CHECK(bench.count(2) == 7);
  CHECK(bench.count(1) == 0);
}

TEST_CASE("per_run: a changed key closes the old run before the frame is taken") {
  PerRunBench bench;
  bench.send_run(0, a, 6, 1);
  bench.send_run(0, b, 3, 2);
  bench.run_until_idle();
  CHECK(bench.closed_count(1) == 6);
  CHECK(bench.closed_count(2) == 0);
  CHECK(bench.live().sources[0].frames == 3);
  CHECK(bench.account().restarted == 1);  // no end mark came
  CHECK(bench.closed_cut().account.restarted == 0);
}

TEST_CASE("per_run: without keys a sequence that begins anew closes the run") {
  PerRunBench bench;
  bench.send_run(0, {}, 6, 1);
  bench.send_run(0, {}, 3, 2);
  CHECK(bench.live().sources[0].frames == 3);
  CHECK(bench.closed_count(1) == 6);
  CHECK(bench.closed_count(2) == 0);
}

TEST_CASE("per_run: end marks are idempotent, one without frames does nothing") {
  PerRunBench bench;
  bench.send_end(0, a);
  bench.send_end(0, {});
  bench.run_until_idle();
  CHECK(bench.closed_log.empty());
  bench.send_run(0, a, 2, 1);
  for (int i = 0; i < 3; ++i) bench.send_end(0, a);
  bench.send_end(0, {});
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 1);
  bench.send_run(0, b, 2, 1);
  bench.send_end(0, a);  // of a run that is over
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 1);
  bench.send_end(0, b);
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 2);
}

TEST_CASE("per_run: frames of a run that is over are stale, also the late ones behind its end mark") {
  PerRunBench bench;
  bench.send_run(0, a, 4, 1, 10);
  bench.send_end(0, a);
  bench.send(8, 1, 0, a);
  bench.send_run(0, b, 2, 2);
  bench.send(9, 1, 0, a);
  CHECK(bench.live().sources[0].frames == 2);
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::stale_run)] == 2);
  CHECK(bench.closed_log.size() == 1);
  CHECK(bench.closed_count(1) == 4);
}

TEST_CASE("per_run: numbers are settled with the run they belong to") {
  PerRunBench bench;
  bench.send(0, 1, 0, a);
  bench.send(3, 1, 0, a);
  SubmitBench& base = bench;
  base.send_end(0, a, 6);
  bench.run_until_idle();
  CHECK(bench.closed_cut().account.missing == 4);
  CHECK(bench.closed_cut().account.open == 0);
  bench.send_run(0, b, 2, 1, 100);
  CHECK(bench.live().sources[0].account.missing == 0);
}

TEST_CASE("per_run: a source does not wait for another; the run is closed when the last one has passed") {
  PerRunBench bench({1, 1});
  const auto first = bench.board.info().run;
  bench.send_run(0, a, 5, 1, 0);
  bench.send_run(1, a, 2, 1, 0);
  bench.send_end(0, a);
  bench.send_run(0, b, 3, 2, 0);
  const Cut mixed = bench.live();
  CHECK(bench.closed_log.empty());
  CHECK(bench.board.info().closing == first);
  CHECK(mixed.run.ends_with("-0002"));
  CHECK(mixed.sources[0].run == mixed.run);
  CHECK(mixed.sources[0].frames == 3);
  CHECK(mixed.sources[1].run == first);
  CHECK(mixed.sources[1].frames == 2);
  CHECK(mixed.batches == 2);

  bench.clock.advance(seconds(9));
  bench.send_run(1, a, 4, 1, 2);
  bench.send_end(1, a);
  bench.run_until_idle();
  REQUIRE(bench.closed_log == std::vector<std::string>{first});
  CHECK(bench.closed.last()->end == RunEnd::marks);
  CHECK(bench.closed_count(1, 0) == 5);
  CHECK(bench.closed_count(1, 1) == 6);
  CHECK(bench.closed_count(2, 0) == 0);
  CHECK(bench.closed_cut(1).account.accumulated == 6);
  CHECK(bench.board.info().closing == "");
  CHECK(bench.live().sources[1].run == mixed.run);
}

TEST_CASE("per_run: close_after_s after the first source the run is closed; later frames of it are stale") {
  PerRunBench bench({1, 1});
  bench.send_run(0, a, 5, 1);
  bench.send_run(1, a, 3, 1);
  bench.send_end(0, a);
  bench.run_until_idle();
  bench.clock.advance(seconds(10) - milliseconds(1));
  bench.run_until_idle();
  CHECK(bench.closed_log.empty());
  bench.send_run(1, a, 3, 1, 3);  // received before the time is over: counted
  bench.clock.advance(milliseconds(1));
  bench.run_until_idle();
  REQUIRE(bench.closed_log.size() == 1);
  CHECK(bench.closed.last()->end == RunEnd::timeout);
  CHECK(bench.closed_count(1, 0) == 5);
  CHECK(bench.closed_count(1, 1) == 6);

  bench.send_run(1, a, 2, 1, 6);
  bench.send_end(1, a);
  bench.send_run(1, b, 1, 2);
  CHECK(bench.live().sources[1].frames == 1);
  CHECK(bench.account(1).discarded[static_cast<std::size_t>(DiscardReason::stale_run)] == 2);
  CHECK(bench.closed_log.size() == 1);
}

TEST_CASE("per_run: a source that has sent nothing is waited for once, then not until it sends again") {
  PerRunBench bench({1, 1});
  bench.send_run(0, a, 5, 1);
  bench.send_end(0, a);
  bench.run_until_idle();
  CHECK(bench.closed_log.empty());
  bench.timeout();
  CHECK(bench.closed_log.size() == 1);
  CHECK(bench.closed_cut(1).frames == 0);
  bench.send_run(0, b, 5, 1);
  bench.send_end(0, b);
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 2);
  CHECK(bench.closed.last()->end == RunEnd::marks);
  // Frames of the runs it missed are old to it, too, as the others agree on their names.
  bench.send_run(1, b, 1, 1);
  bench.send_run(1, c, 1, 1);
  bench.send_run(0, c, 1, 1);
  bench.send_end(0, c);
  CHECK(bench.live().sources[1].frames == 1);
  CHECK(bench.account(1).discarded[static_cast<std::size_t>(DiscardReason::stale_run)] == 1);
  CHECK(bench.closed_log.size() == 2);  // it is waited for again
  bench.send_end(1, c);
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 3);
}

TEST_CASE("per_run: a source that begins late is in the closing run with its key, in the next with another") {
  for (const bool same_key : {true, false}) {
    PerRunBench bench({1, 1});
    bench.send_run(0, a, 5, 1);
    bench.send_end(0, a);
    bench.run_until_idle();
    bench.send_run(1, same_key ? a : b, 2, 3);
    bench.run_until_idle();
    CHECK(bench.closed_log.size() == (same_key ? 0 : 1));
    if (same_key) bench.send_end(1, a);
    bench.run_until_idle();
    CHECK(bench.closed_count(3, 1) == (same_key ? 2 : 0));
    CHECK(bench.live().sources[1].frames == (same_key ? 0 : 2));
  }
}

TEST_CASE("per_run: a source at the end of its next run waits until the run before is closed") {
  PerRunBench bench({1, 1});
  bench.send_run(1, a, 1, 1);
  for (const auto key : {a, b, c}) {
    bench.send_run(0, key, 3, 1);
    bench.send_end(0, key);
  }
  bench.run_until_idle();
  CHECK(bench.closed_log.empty());
  const Cut live = bench.live();  // is answered, though the source cannot get further
  CHECK(live.sources[0].frames == 3);
  CHECK(live.sources[0].pending == 3);
  bench.send_end(1, a);
  bench.send_run(1, b, 2, 1);
  bench.send_end(1, b);
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 2);
  CHECK(bench.closed_count(1, 1) == 2);
  bench.timeout();
  CHECK(bench.closed_log.size() == 3);
  CHECK(bench.account(0).accumulated == 9);
}

TEST_CASE("per_run: a mark waits while the memory for its cut is still being read") {
  PerRunBench bench;
  const auto run_with_end = [&](RunKey key) {
    bench.send_run(0, key, 4, 1);
    bench.send_end(0, key);
    bench.run_until_idle();
  };
  run_with_end(a);
  SnapshotPtr reader = bench.closed.find(bench.closed_log[0]);
  REQUIRE(reader != nullptr);
  run_with_end(b);
  CHECK(bench.closed_log.size() == 2);
  CHECK(reader->counts.as<std::uint32_t>()[1] == 4);  // replaced, and still whole for its reader
  CHECK(bench.closed.find(bench.closed_log[0]) == nullptr);
  run_with_end(c);
  CHECK(bench.closed_log.size() == 2);
  CHECK(bench.count(1) == 4);
  reader.reset();
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 3);
  CHECK(bench.account().accumulated == 12);
}

TEST_CASE("per_run: a mark is a barrier over the rings of its source, and so is a frame that acts as one") {
  for (const bool end_mark : {true, false}) {
    PerRunBench bench({2});
    bench.send(0, 1, 0, a);
    bench.send(1, 1, 1, a);
    bench.send(2, 1, 0, a);
    if (end_mark) bench.send_end(0, a);
    bench.send(0, 2, 0, b);
    bench.clock.advance(milliseconds(1));
    bench.send(3, 1, 1, a);
    bench.send(1, 2, 1, b);
    CHECK(bench.live().sources[0].frames == 2);
    CHECK(bench.closed_log.size() == 1);
    CHECK(bench.closed_count(1) == 4);
    CHECK(bench.closed_count(2) == 0);
    CHECK(bench.account().discarded_total() == 0);
  }
}

TEST_CASE("per_run: a start mark gives the run its id, and ends the one before") {
  PerRunBench bench;
  bench.send_start(0, a);  // the run opened at start is not used up yet
  bench.send_run(0, a, 2, 1);
  bench.send_start(0, a);
  bench.run_until_idle();
  CHECK(bench.closed_log.empty());
  CHECK(bench.board.info().run.ends_with("-0001"));
  bench.send_start(0, b);
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 1);
  CHECK(bench.board.info().run.ends_with("-0002"));
  bench.send_run(0, b, 2, 1);
  bench.send_end(0, b);
  bench.run_until_idle();
  CHECK(bench.board.info().run == "");
  bench.send_start(0, {});
  bench.run_until_idle();
  CHECK(bench.board.info().run.ends_with("-0003"));
  bench.send_run(0, {}, 2, 1);
  bench.send_start(0, {});
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 3);
}
