#pragma once
// A submit agent with everything around it, driven by hand: rings that the test writes, a manual clock.

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/pipeline/cpu_pipeline.hpp"
#include "service/agents/submit_agent.hpp"

namespace pixhist::test {

/// A pipeline that keeps batches until the test lets them finish: a device whose end is not in sight.
class HeldPipeline final : public Pipeline {
 public:
  explicit HeldPipeline(Pipeline& inner) : inner_(inner) {}
  std::size_t slots() const override { return 2; }
  bool try_submit(Batch& batch) override {
    if (lost) throw DeviceLost("test");
    if (submitted_ - finished_ >= slots()) return false;
    ++submitted_;
    return inner_.try_submit(batch);
  }
  PipelineProgress progress() override {
    if (!held) finished_ = submitted_;
    return {finished_, finished_};
  }
  std::uint64_t bad_frames(Ticket ticket) override { return ticket == bad_ticket ? 1 : 0; }
  BatchSeconds seconds(Ticket) override { return {}; }
  /// To wait for a device that does not finish would hold up the submit thread.
  void drain() override { REQUIRE((!held || finished_ == submitted_)); }
  bool healthy() override { return true; }

  bool held = false;
  bool lost = false;
  Ticket bad_ticket = 0;

 private:
  Pipeline& inner_;
  Ticket submitted_ = 0;
  Ticket finished_ = 0;
};

struct SubmitBench {
  static constexpr FrameShape shape{2, 3};

  /// sources: rings of each. placed: side by side; otherwise headers must say where they lie.
  explicit SubmitBench(std::vector<std::size_t> rings_of_source = {1},
                       BatchLimits limits = {4, 1 << 20, std::chrono::milliseconds(200)},
                       bool autostart = true, std::size_t ring_bytes = 4096, std::size_t records = 64,
                       bool placed = true, RunRules rules = {})
      : places({shape.rows, static_cast<std::uint32_t>(rings_of_source.size()) * shape.cols},
               sites(rings_of_source.size(), placed)),
        board(rings_of_source.size()),
        closed(window_if(rules.per_run, rings_of_source.size()), memory) {
    std::vector<SubmitSource> sources;
    std::vector<std::vector<Accumulator*>> accumulators;
    std::vector<IngestLane*> lane_list;
    for (std::size_t s = 0; s < rings_of_source.size(); ++s) {
      HistogramSpec spec;
      spec.shape = shape;
      spec.axis = {16, 0, 16, AxisType::f32};
      progress.push_back(std::make_unique<SourceProgress>("m" + std::to_string(s)));
      counts.push_back(std::make_unique<CpuPixelCounts>(spec, memory, pool));
      accumulators.push_back({counts.back().get()});
      sources.push_back({*progress.back(), *counts.back(), {}});
      for (std::size_t r = 0; r < rings_of_source[s]; ++r) {
        lanes.push_back(
            std::make_unique<IngestLane>(s, "test", memory.allocate(ring_bytes, Paging::on_demand), records));
        lane_list.push_back(lanes.back().get());
      }
    }
    cpu = std::make_unique<CpuPipeline>(accumulators);
    pipeline = std::make_unique<HeldPipeline>(*cpu);
    agent = std::make_unique<SubmitAgent>(
        SubmitParts{clock, *pipeline, std::move(sources), std::move(lane_list), limits, places, commands,
                    doorbell, board, pipeline_board, closed, rules, notes()},
        autostart);
  }

  /// All bins of sources side by side.
  static std::optional<SnapshotWindow> window_if(bool per_run, std::size_t sources) {
    if (!per_run) return std::nullopt;
    const auto cols = static_cast<std::uint32_t>(sources) * shape.cols;
    return SnapshotWindow{Rect{0, shape.rows, 0, cols}, {0, 16}, StorageType::u32};
  }

  SubmitNotes notes() {
    SubmitNotes to_lists;
    to_lists.run_closed = [this](const ClosedRun& run) { closed_log.push_back(run.snapshot->cut.run); };
    to_lists.many_missing = [this](std::size_t source, std::uint64_t numbers, std::uint64_t in_all) {
      missing_log.push_back({source, numbers, in_all});
    };
    return to_lists;
  }

  static std::vector<SourceSite> sites(std::size_t sources, bool placed) {
    std::vector<SourceSite> all;
    for (std::size_t s = 0; s < sources; ++s) {
      const Place place{0, static_cast<std::uint32_t>(s) * shape.cols, false};
      all.push_back({"m" + std::to_string(s), shape, placed ? std::optional(place) : std::nullopt});
    }
    return all;
  }

  /// A frame whose pixels all have `value`. False if the ring is full.
  bool send(std::uint64_t number, std::uint16_t value = 1, std::size_t lane = 0, RunKey run = {},
            std::uint16_t flags = frame_flags::complete) {
    auto writer = lanes[lane]->ring.try_claim(shape.pixels() * sizeof(std::uint16_t));
    if (!writer) return false;
    const std::vector<std::uint16_t> pixels(shape.pixels(), value);
    std::memcpy(writer->payload().data(), pixels.data(), writer->payload().size());
    RecordInfo info;
    info.has_number = true;
    info.number = number;
    info.run = run;
    info.flags = flags;
    info.received = clock.now();
    lanes[lane]->counters.pixel_bytes.add(writer->payload().size());
    lanes[lane]->counters.accepted.add();
    writer->commit(info);
    return true;
  }

  bool send_end(std::size_t lane, RunKey run, std::uint64_t expected) {
    RecordInfo info;
    info.kind = RecordKind::run_end;
    info.run = run;
    info.has_expected = true;
    info.expected = expected;
    return lanes[lane]->ring.try_mark(info);
  }

  bool send_start(std::size_t lane, RunKey run) {
    RecordInfo info;
    info.kind = RecordKind::run_start;
    info.run = run;
    return lanes[lane]->ring.try_mark(info);
  }

  void run_until_idle() {
    while (agent->step()) {
    }
  }

  FrameAccount account(std::size_t source = 0) const {
    std::vector<const ReceiveCounters*> receive;
    for (const auto& lane : lanes) {
      if (lane->source == source) receive.push_back(&lane->counters);
    }
    return read_account(receive, progress[source]->counters);
  }

  /// Counts of pixel 0 of a source, straight from the accumulator.
  std::uint32_t count(std::uint16_t bin, std::size_t source = 0) const {
    return counts[source]->cells()[bin];
  }

  void push(Command command) { REQUIRE(commands.try_push(command)); }

  Command command(CommandKind kind) {
    Command c;
    c.kind = kind;
    c.askers = {{"client", [this](CommandResult r) { results.push_back(std::move(r)); }}};
    return c;
  }

  Command read(const Rect& roi, bool fresh) {
    Command c = command(CommandKind::read);
    c.fresh = fresh;
    c.snapshot = std::make_shared<Snapshot>();
    c.snapshot->window = {roi, {0, 16}, StorageType::u32};
    c.snapshot->counts = memory.allocate(c.snapshot->window.count_bytes(), Paging::on_demand);
    c.snapshot->flow = memory.allocate(c.snapshot->window.flow_bytes(), Paging::on_demand);
    return c;
  }

  MemoryAccount memory_account;
  PageableMemory memory{memory_account};
  ManualClock clock;
  WorkerPool pool{1};
  std::vector<std::unique_ptr<IngestLane>> lanes;
  std::vector<std::unique_ptr<SourceProgress>> progress;
  std::vector<std::unique_ptr<CpuPixelCounts>> counts;
  std::unique_ptr<CpuPipeline> cpu;
  std::unique_ptr<HeldPipeline> pipeline;
  CommandQueue commands{8};
  Doorbell doorbell;
  PlaceBoard places;
  RunBoard board;
  ClosedRuns closed;
  PipelineProgressBoard pipeline_board;
  std::vector<CommandResult> results;
  std::vector<std::string> closed_log;                    // run ids, in the order they were closed
  std::vector<std::array<std::uint64_t, 3>> missing_log;  // source, numbers, in all
  std::unique_ptr<SubmitAgent> agent;
};

}  // namespace pixhist::test
