#pragma once
// The one consumer of the rings and of the device: takes frames, feeds the pipeline, executes commands.
// Readers of what it does: RunBoard, SourceProgress, PipelineProgressBoard. Everything else is its own.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "service/agents/agent.hpp"
#include "service/agents/command_queue.hpp"
#include "service/agents/doorbell.hpp"
#include "service/agents/lane_feed.hpp"
#include "service/agents/run_control.hpp"

namespace pixhist {

/// What is worth a line in the log; called on the submit thread. May be empty.
struct SubmitNotes {
  std::function<void(const ClosedRun&)> run_closed;
  /// `numbers` frame numbers were given up in one step, `in_all` since the start (saturating).
  std::function<void(std::size_t source, std::uint64_t numbers, std::uint64_t in_all)> many_missing;
};
/// In one step: more than a detector loses without a long interruption.
inline constexpr std::uint64_t many_missing_numbers = 1'000'000;

/// Everything the submit thread works with; owned by the service, outlives the agent.
struct SubmitParts {
  const Clock& clock;
  Pipeline& pipeline;
  std::vector<SubmitSource> sources;
  std::vector<IngestLane*> lanes;
  BatchLimits limits;
  const PlaceBoard& places;
  CommandQueue& commands;
  Doorbell& doorbell;
  RunBoard& run_board;
  PipelineProgressBoard& pipeline_board;
  ClosedRuns& closed_runs;
  RunRules runs;
  SubmitNotes notes;
};

class SubmitAgent final : public Agent {
 public:
  SubmitAgent(SubmitParts parts, bool autostart);

  /// Throws DeviceLost, after everything that waited was answered so; the agent is not used again.
  bool step() override;
  void wait() override;

  /// After the receive threads have ended and the agent's thread is joined: submits what the rings hold and
  /// ends the sequences. False if `give_up` said so first; the rings then still hold frames.
  bool drain(const std::function<bool()>& give_up);

 private:
  bool move_frames();
  bool take_in_order(const std::vector<std::size_t>& feeds);
  bool pass_mark(std::size_t source);
  void take_repeated_ends(std::size_t source, const LaneFeed* passed, const RunKey& ended);
  bool meet_mark(std::size_t source);
  bool others_are_there(std::size_t source, std::size_t lane);
  bool said_before(std::size_t source, const RecordInfo& mark) const;
  void end_mark(std::size_t source);
  bool ends_run(std::size_t source, const RecordInfo& mark) const;
  void note_missing();
  bool run_commands();
  bool may_execute();
  bool barrier_reached() const;
  bool barrier_reached_or_blocked() const;
  bool waits_at_mark(const LaneFeed& feed) const {
    return mark_waits_[feed.source_index()] && feed.at_mark();
  }
  void lose_device();

  /// A source's mark that has been met: its own record at the head of a lane, or the run is not waited for.
  struct MetMark {
    std::optional<std::size_t> lane;
  };

  SubmitParts parts_;
  BatchSubmitter submitter_;
  std::vector<SourceSequence> sequences_;
  RunControl run_;
  std::vector<LaneFeed> feeds_;
  std::vector<std::vector<std::size_t>> feeds_of_source_;  // indices into feeds_
  std::vector<std::optional<MetMark>> met_marks_;          // per source
  std::vector<bool> blocked_;  // per source: at a mark while the run before is still closing
  /// Per source of several rings: since when one stands at a mark and the others are waited for.
  std::vector<std::optional<std::chrono::nanoseconds>> mark_waits_;
  bool draining_ = false;                    // nothing comes any more
  std::vector<std::uint64_t> missing_seen_;  // per source, for note_missing()
  std::optional<Command> active_;            // popped, its barrier not yet reached
};

}  // namespace pixhist
