#pragma once
// A submit agent under runs.policy per_run, and what tests of runs ask of it.

#include <doctest/doctest.h>

#include "tests/service/agents/submit_bench.hpp"

namespace pixhist::test {

inline const RunKey a = make_run_key("a");
inline const RunKey b = make_run_key("b");
inline const RunKey c = make_run_key("c");

struct PerRunBench : SubmitBench {
  explicit PerRunBench(std::vector<std::size_t> rings_of_source = {1})
      : SubmitBench(std::move(rings_of_source), {4, 1 << 20, std::chrono::milliseconds(200)}, true, 4096, 256,
                    true, {true, std::chrono::seconds(10)}) {}

  void send_run(std::size_t lane, RunKey run, std::uint64_t frames, std::uint16_t value,
                std::uint64_t first = 0) {
    for (std::uint64_t n = first; n < first + frames; ++n) REQUIRE(send(n, value, lane, run));
  }
  void send_end(std::size_t lane, RunKey run) {
    RecordInfo info;
    info.kind = RecordKind::run_end;
    info.run = run;
    REQUIRE(lanes[lane]->ring.try_mark(info));
  }
  Cut live() {
    push(read(Rect{0, 1, 0, 1}, true));
    run_until_idle();
    return results.back().cut;
  }
  /// Of the last closed run: counts of the first pixel of a source.
  std::uint32_t closed_count(std::uint16_t bin, std::size_t source = 0) const {
    const auto run = closed.last();
    REQUIRE(run.has_value());
    return run->snapshot->counts.as<std::uint32_t>()[source * shape.cols * 16 + bin];
  }
  const SourceCut& closed_cut(std::size_t source = 0) const {
    return closed.last()->snapshot->cut.sources[source];
  }
  void timeout() {
    clock.advance(std::chrono::seconds(10));
    run_until_idle();
  }
};

}  // namespace pixhist::test
