// A device whose batches do not finish: the submit thread waits for it step by step, so that it beats, takes
// what it can, and is stopped when told. SubmitBench fails where it would wait inside the pipeline instead.
#include <doctest/doctest.h>

#include "tests/service/agents/per_run_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

constexpr int some_steps = 20;

void step(SubmitBench& bench) {
  for (int i = 0; i < some_steps; ++i) bench.agent->step();
}

}  // namespace

TEST_CASE("what changes the run waits for the batches of the run") {
  for (const auto kind : {CommandKind::reset, CommandKind::stop, CommandKind::read}) {
    SubmitBench bench;
    bench.pipeline->held = true;
    for (std::uint64_t n = 0; n < 6; ++n) bench.send(n);  // a whole batch, and one that the barrier closes
    Command command = kind == CommandKind::read ? bench.read(Rect{0, 2, 0, 3}, true) : bench.command(kind);
    command.then_reset = kind == CommandKind::read;
    bench.push(std::move(command));
    step(bench);
    CHECK(bench.results.empty());
    CHECK(bench.account().in_flight == 6);
    bench.pipeline->held = false;
    bench.run_until_idle();
    REQUIRE(bench.results.size() == 1);
    CHECK(bench.results[0].cut.frames() == 6);
    CHECK(bench.results[0].cut.sources[0].account.accumulated == 6);
    CHECK(bench.results[0].cut.sources[0].account.in_flight == 0);
    CHECK(bench.account().accumulated == 6);
  }
}

TEST_CASE("a read waits for no batch: its cut has what is submitted") {
  SubmitBench bench;
  bench.pipeline->held = true;
  for (std::uint64_t n = 0; n < 6; ++n) bench.send(n);
  bench.push(bench.read(Rect{0, 2, 0, 3}, true));
  step(bench);
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.results[0].cut.frames() == 6);
  CHECK(bench.results[0].cut.sources[0].account.accumulated == 6);
  CHECK(bench.account().accumulated == 0);
}

TEST_CASE("a fresh read whose frames find no slot waits for one") {
  SubmitBench bench;
  bench.pipeline->held = true;
  for (std::uint64_t n = 0; n < 12; ++n) bench.send(n);  // three batches
  bench.push(bench.read(Rect{0, 2, 0, 3}, true));
  step(bench);
  CHECK(bench.results.empty());
  bench.pipeline->held = false;
  bench.run_until_idle();
  REQUIRE(bench.results.size() == 1);
  CHECK(bench.results[0].cut.frames() == 12);
}

TEST_CASE("per_run: a source passes its mark when its own batches are done, not those of others") {
  PerRunBench bench({1, 1});
  bench.send_run(0, a, 4, 1);
  bench.run_until_idle();
  bench.pipeline->held = true;
  bench.send_run(1, a, 4, 2);
  bench.send_end(0, a);
  step(bench);
  CHECK(bench.account(1).in_flight == 4);
  CHECK_FALSE(bench.board.info().closing.empty());  // the first source has passed
  bench.send_end(1, a);
  step(bench);
  CHECK(bench.closed_log.empty());
  bench.pipeline->held = false;
  bench.run_until_idle();
  REQUIRE(bench.closed_log.size() == 1);
  CHECK(bench.closed_count(1, 0) == 4);
  CHECK(bench.closed_count(2, 1) == 4);
  CHECK(bench.closed_cut(1).account.accumulated == 4);
}

TEST_CASE("a drain is cut short while the last batches are not done, and says so") {
  SubmitBench bench;
  bench.pipeline->held = true;
  for (std::uint64_t n = 0; n < 6; ++n) bench.send(n);
  int asked = 0;
  CHECK_FALSE(bench.agent->drain([&] { return ++asked > some_steps; }));
  CHECK(bench.account().in_flight == 6);
  CHECK(bench.account().accumulated == 0);
}

TEST_CASE("a drain waits for the last batches") {
  SubmitBench bench;
  bench.pipeline->held = true;
  for (std::uint64_t n = 0; n < 6; ++n) bench.send(n);
  int asked = 0;
  CHECK(bench.agent->drain([&] {
    bench.pipeline->held = ++asked < some_steps;
    return false;
  }));
  CHECK(asked >= some_steps);
  CHECK(bench.account().accumulated == 6);
}
