// Commands and shutdown under runs.policy per_run; marks under continuous; wild numbers.
#include <doctest/doctest.h>

#include "tests/service/agents/per_run_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;

TEST_CASE("per_run: stop closes the run, and its counts stay readable") {
  PerRunBench bench({1, 1});
  const auto run = bench.board.info().run;
  bench.send_run(0, a, 3, 1);
  bench.push(bench.command(CommandKind::stop));
  bench.run_until_idle();
  CHECK(bench.results.back().changed);
  CHECK(bench.results.back().run == run);
  REQUIRE(bench.closed_log == std::vector<std::string>{run});
  CHECK(bench.closed.last()->end == RunEnd::command);
  CHECK(bench.closed_count(1) == 3);
  CHECK(bench.count(1) == 3);
  CHECK(bench.live().sources[0].run == run);
  // While stopped marks end no run.
  bench.send_run(0, b, 2, 1);
  bench.send_end(0, b);
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 1);
  CHECK(bench.account().discarded[static_cast<std::size_t>(DiscardReason::stop)] == 2);
  bench.push(bench.command(CommandKind::start));
  bench.run_until_idle();
  CHECK(bench.board.info().run.ends_with("-0002"));
  CHECK(bench.count(1) == 0);
  bench.send_run(0, c, 2, 1);
  bench.send_end(0, c);
  bench.run_until_idle();
  bench.timeout();  // the other source has never sent anything
  CHECK(bench.closed_log.size() == 2);
  CHECK(bench.closed_count(1) == 2);
}

TEST_CASE("per_run: stop without frames closes nothing") {
  PerRunBench bench;
  bench.push(bench.command(CommandKind::stop));
  bench.run_until_idle();
  CHECK(bench.closed_log.empty());
  CHECK(bench.results.size() == 1);
}

TEST_CASE("per_run: a command that ends the run first ends the closing of the one before") {
  for (const auto kind : {CommandKind::reset, CommandKind::stop, CommandKind::read}) {
    PerRunBench bench({1, 1});
    bench.send_run(0, a, 3, 1);
    bench.send_run(1, a, 2, 1);
    bench.send_end(0, a);
    bench.send_run(0, b, 4, 2);
    bench.send_end(0, b);  // blocked until the first run is closed
    bench.run_until_idle();
    CHECK(bench.closed_log.empty());
    Command command = kind == CommandKind::read ? bench.read(Rect{0, 1, 0, 6}, true) : bench.command(kind);
    command.then_reset = kind == CommandKind::read;
    bench.push(std::move(command));
    bench.run_until_idle();
    REQUIRE(bench.results.size() == 1);
    REQUIRE(bench.closed_log.size() >= 1);
    CHECK(bench.closed_log[0].ends_with("-0001"));
    const auto& cut = bench.results[0].cut;
    CHECK(cut.sources[0].account.accumulated + cut.sources[1].account.accumulated == cut.frames());
    CHECK(bench.account(0).accumulated == 7);
    CHECK(bench.account(1).accumulated == 2);
    CHECK(bench.board.info().closing.empty());
    CHECK(bench.board.state() == (kind == CommandKind::stop ? RunState::stopped : RunState::running));
  }
}

TEST_CASE("per_run: reset discards the run, keeps the last closed one, and does not end the sequence") {
  PerRunBench bench;
  bench.send_run(0, a, 3, 1);
  bench.send_end(0, a);
  bench.send_run(0, b, 2, 1);
  bench.push(bench.command(CommandKind::reset));
  bench.run_until_idle();
  CHECK(bench.closed_log.size() == 1);
  CHECK(bench.results.back().cut.frames() == 2);
  const auto run = bench.board.info().run;
  CHECK(run.ends_with("-0003"));
  bench.send_run(0, b, 2, 1, 2);
  bench.send_end(0, b);
  bench.run_until_idle();
  REQUIRE(bench.closed_log.size() == 2);
  CHECK(bench.closed_log[1] == run);
  CHECK(bench.closed_count(1) == 2);
  CHECK(bench.closed_cut().account.missing == 0);
}

TEST_CASE("per_run: at shutdown what the rings hold is accumulated, with a run still closing") {
  PerRunBench bench({1, 1});
  bench.send_run(1, a, 2, 1);
  for (const auto key : {a, b, c}) {
    bench.send_run(0, key, 3, 1);
    bench.send_end(0, key);
  }
  bench.run_until_idle();
  CHECK(bench.agent->drain([] { return false; }));
  CHECK(bench.account(0).accumulated == 9);
  CHECK(bench.account(1).accumulated == 2);
  CHECK(bench.account(0).in_ring == 0);
}

TEST_CASE("per_run: on a device the cut is there when its reads are done, and filling goes on") {
  PerRunBench bench;
  bench.send_run(0, a, 8, 1);
  bench.send_end(0, a);
  bench.send_run(0, b, 4, 2);
  bench.pipeline->held = true;
  bench.run_until_idle();
  bench.pipeline->held = false;
  bench.run_until_idle();
  CHECK(bench.closed_count(1) == 8);
  CHECK(bench.count(2) == 4);
}

TEST_CASE("continuous: marks end no run, and a new key only a sequence") {
  SubmitBench bench;
  const auto run = bench.board.info().run;
  for (std::uint64_t n = 0; n < 4; ++n) bench.send(n, 1, 0, a);
  bench.send_end(0, a, 4);
  bench.send_start(0, b);
  for (std::uint64_t n = 0; n < 4; ++n) bench.send(n, 1, 0, c);
  bench.run_until_idle();
  CHECK(bench.board.info().run == run);
  CHECK(bench.count(1) == 8);
  CHECK(bench.closed_log.empty());
}

TEST_CASE("a wild frame number or end mark: missing stays at its limit, and a note tells the number") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  SubmitBench bench;
  bench.send(0, 1, 0, a);
  bench.send(most, 1, 0, a);
  bench.run_until_idle();
  CHECK(bench.account().missing == most - 1 - 1023);  // those in the window are open
  CHECK(bench.account().open == 1023);
  REQUIRE(bench.missing_log.size() == 1);
  CHECK(bench.missing_log[0] == std::array<std::uint64_t, 3>{0, most - 1024, most - 1024});
  for (int i = 0; i < 3; ++i) {
    bench.send(0, 1, 0, i == 0 ? b : RunKey{{7, 7U + static_cast<unsigned>(i)}});
    bench.send_end(0, {}, most);
  }
  bench.run_until_idle();
  CHECK(bench.account().missing == most);
  CHECK(bench.missing_log.size() == 1);  // the rest is too little, or nothing
  FrameAccount total = bench.account();
  total += bench.account();
  CHECK(total.missing == most);
}
