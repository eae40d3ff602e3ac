// A read command where the device has no room for it, through run control.

#include <doctest/doctest.h>

#include <algorithm>

#include "core/pipeline/cpu_pipeline.hpp"
#include "service/agents/run_control.hpp"
#include "tests/service/agents/short_of_memory.hpp"

using namespace pixhist;
using test::ShortOfMemory;

namespace {

constexpr FrameShape shape = ShortOfMemory::shape;
constexpr std::size_t row_cells = std::size_t{shape.cols} * ShortOfMemory::bins;

/// Run control of one source whose counts hold 77 frames.
struct PausedBench {
  PausedBench() {
    control.open(true);
    counts.fill();
    progress.frames_in_run.set(77);
  }

  Command command(CommandResult& result) {
    Command command;
    command.snapshot = std::make_shared<Snapshot>();
    command.snapshot->window = {Rect::whole(shape), {0, ShortOfMemory::bins}, StorageType::u32};
    command.snapshot->counts =
        counts.memory.allocate(command.snapshot->window.count_bytes(), Paging::on_demand);
    command.askers = {{"client", [&result](CommandResult r) { result = std::move(r); }}};
    return command;
  }
  void finish_reads() {
    while (control.reads_pending()) control.poll_reads();
  }
  CommandResult read(bool pause, bool then_reset = false) {
    CommandResult result;
    Command read = command(result);
    read.pause = pause;
    read.then_reset = then_reset;
    control.execute(read);
    finish_reads();
    return result;
  }

  ShortOfMemory counts;
  SourceProgress progress{"m0"};
  std::vector<SubmitSource> sources{{progress, counts, {}}};
  std::vector<SourceSequence> sequences{SourceSequence({})};
  PlaceBoard places{shape, {{"m0", shape, Place{}}}};
  CpuPipeline pipeline{{{&counts}}};
  PipelineProgressBoard pipeline_board;
  BatchSubmitter submitter{pipeline, counts.clock, sources, pipeline_board};
  RunBoard board{1};
  ClosedRuns closed{std::nullopt, counts.memory};
  RunControl control{
      RunParts{counts.clock, sources, sequences, places, submitter, board, pipeline_board, closed, nullptr},
      {},
      {}};
};

}  // namespace

TEST_CASE("without room: no_memory with the bytes, or with pause the counts and how long it took") {
  PausedBench bench;
  bench.counts.room = 3 * row_cells;
  const CommandResult refused = bench.read(false);
  REQUIRE(refused.no_memory);
  CHECK(refused.no_memory->find(std::to_string(shape.rows * row_cells) + " more bytes") != std::string::npos);
  CHECK_FALSE(refused.snapshot);

  const CommandResult paused = bench.read(true);
  REQUIRE(paused.snapshot);
  CHECK(paused.cut.sources[0].frames == 77);
  CHECK(paused.snapshot->cut.paused_ms == 4 * bench.counts.rows_read.size());
  const auto counts = paused.snapshot->counts.as<std::uint32_t>();
  const auto cells = bench.counts.inner.cells();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t pixel = i / ShortOfMemory::bins;
    REQUIRE(counts[i] == cells[pixel * (ShortOfMemory::bins + flow_count) + i % ShortOfMemory::bins]);
  }
}

TEST_CASE("with room for all, pause holds nothing up") {
  PausedBench bench;
  bench.counts.room = shape.rows * row_cells;
  const CommandResult read = bench.read(true);
  REQUIRE(read.snapshot);
  CHECK(read.cut.paused_ms == 0);
  CHECK(bench.counts.rows_read == std::vector<std::uint32_t>{shape.rows});
}

TEST_CASE("a paused read before a reset has everything of the run that ends") {
  PausedBench bench;
  bench.counts.room = 2 * row_cells;
  const std::string run = bench.board.info().run;
  const auto cells = bench.counts.inner.cells();
  const std::vector<std::uint32_t> before(cells.begin(), cells.end());
  const CommandResult read = bench.read(true, true);
  REQUIRE(read.snapshot);
  CHECK(read.snapshot->cut.run == run);
  CHECK(bench.board.info().run != run);
  CHECK(read.snapshot->counts.as<std::uint32_t>()[0] == before[0]);
  CHECK(read.snapshot->counts.as<std::uint32_t>().back() == before[before.size() - flow_count - 1]);
  CHECK(std::all_of(cells.begin(), cells.end(), [](std::uint32_t cell) { return cell == 0; }));
}

TEST_CASE("without room for a single row pause is no_memory too, and filling goes on") {
  PausedBench bench;
  bench.counts.room = row_cells - 1;
  CHECK(bench.read(true).no_memory);
  bench.counts.room = row_cells;
  CHECK(bench.read(true).snapshot);
}

TEST_CASE("no_memory reaches everybody who joined the read") {
  PausedBench bench;
  CommandResult first;
  CommandResult second;
  Command read = bench.command(first);
  read.askers.push_back({"other", [&second](CommandResult r) { second = std::move(r); }});
  bench.control.execute(read);
  CHECK(first.no_memory);
  CHECK(second.no_memory == first.no_memory);
}

TEST_CASE("further large reads wait while one is in progress, and for no small one") {
  PausedBench bench;
  bench.counts.room = shape.rows * row_cells;
  for (const bool large : {false, true}) {
    CommandResult result;
    Command read = bench.command(result);
    if (large)
      read.snapshot->counts =
          bench.counts.memory.allocate(Command::largest_small_read + 1, Paging::on_demand);
    bench.control.execute(read);
    CHECK_FALSE(result.snapshot);
    CHECK(bench.control.large_reads_wait() == large);
    bench.finish_reads();
    CHECK(result.snapshot);
    CHECK_FALSE(bench.control.large_reads_wait());
  }
}
