#pragma once
// The run: state, run ids, cuts, snapshots, zeroing, and under runs.policy per_run its end. Submit thread
// only (construction: main, before it starts).

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "service/agents/batch_submitter.hpp"
#include "service/agents/command.hpp"
#include "service/agents/ingest_lane.hpp"
#include "service/agents/place_board.hpp"
#include "service/agents/run_board.hpp"
#include "service/agents/run_closing.hpp"
#include "service/agents/source_sequence.hpp"

namespace pixhist {

struct RunRules {
  bool per_run = false;                                             // a run mark ends the run
  std::chrono::nanoseconds close_after = std::chrono::seconds(10);  // of its first source
};

/// What run control works with; owned by the submit agent or by the service, outlives it.
struct RunParts {
  const Clock& clock;
  std::vector<SubmitSource>& sources;
  std::vector<SourceSequence>& sequences;
  const PlaceBoard& places;
  BatchSubmitter& submitter;
  RunBoard& board;
  PipelineProgressBoard& pipeline_board;
  ClosedRuns& closed;
  std::function<void(const ClosedRun&)> on_closed;  // may be empty
};

class RunControl {
 public:
  RunControl(RunParts parts, std::span<IngestLane* const> lanes, RunRules rules);

  /// From starting to running, or to stopped. Opens the first run.
  void open(bool autostart);
  bool stopped() const { return parts_.board.run_state() == RunState::stopped; }

  // Under per_run. A source passes the mark of a run: its part of the final cut is taken, it is zeroed and is
  // in the next run. Of two runs at a time, one may be closing, so a source waits at its next mark until it
  // is closed and its cut before that is no longer read.

  /// Whether marks end runs: per_run, and not stopped.
  bool marks_count() const { return rules_.per_run && !stopped(); }
  bool can_pass(std::size_t source) const;
  /// `mark`: an end mark, or an empty one. What the source took is booked; can_pass().
  void pass(std::size_t source, const RecordInfo& mark);
  /// Gives the run an id that sources have begun with a frame since the last call.
  void note_frames();
  /// A start mark: its source is in a run that has begun.
  void note_start(std::size_t source);
  bool closing() const { return closing_.has_value(); }
  /// When the closing run is not waited for any longer.
  std::optional<std::chrono::nanoseconds> close_deadline() const;
  /// The sources that have not passed its mark are to pass it now, as overdue() says.
  void force_close(RunEnd why);
  bool overdue(std::size_t source) const {
    return closing_ && closing_->forced() && !closing_->has_part(source);
  }
  /// Whether the command ends the run, so that one that is still closing must be closed first.
  bool ends_run(const Command& command) const;
  /// Whether nothing is in the way of a command that ends the run.
  bool ready_for(const Command& command) const;

  /// Executes a command whose barrier, if it has one, has been reached; one that changes the run when
  /// everything submitted is booked. Its answer comes at once or from poll_reads(). Throws DeviceLost, with a
  /// command that is not answered left whole.
  void execute(Command& command);
  /// Completes reads that have become ready. True if any did.
  bool poll_reads();
  /// One large read at a time: what comes meanwhile for the same then shares the next, and small reads do not
  /// wait behind a row of large copies.
  bool large_reads_wait() const;
  bool reads_pending() const { return !reads_.empty() || publishing_.has_value(); }
  /// When the latest read that is pending was begun. Not of a closed run, that nobody waits for.
  std::optional<std::chrono::nanoseconds> latest_read() const {
    return reads_.empty() ? std::nullopt : std::optional(reads_.back().begun);
  }
  /// Answers everything that is pending with device_lost.
  void fail_reads();

 private:
  struct PendingRead {
    Command command;
    CommandResult result;
    std::vector<std::unique_ptr<CountRead>> parts;
    std::vector<std::size_t> part_sources;
    std::chrono::nanoseconds begun;
  };

  /// True of what is submitted now.
  Cut make_cut();
  void begin_read(Command& command);
  void complete(PendingRead& read);
  void new_run(const std::string& name);
  void open_run(const std::string& name);
  void zero(std::size_t source);
  FrameAccount lifetime_account(std::size_t source) const;
  SourceCut cut_of(std::size_t source, const FrameAccount& run_account);

  void begin_closing();
  void take_part(std::size_t source);
  void leave_run(std::size_t source, const RecordInfo& mark);
  bool awaited(std::size_t source) const;
  void finish_if_complete();
  void finish_closing();
  void close_stopped_run();
  bool publish_if_ready();

  const RunParts parts_;
  const RunRules rules_;
  std::vector<std::vector<const ReceiveCounters*>> receive_;  // per source
  std::vector<PendingRead> reads_;
  RunInfo info_;  // what the board shows
  std::uint32_t runs_ = 0;
  std::optional<RunClosing> closing_;     // some sources have passed its mark
  std::optional<RunClosing> publishing_;  // all have; its reads are on the way
  std::vector<bool> sent_before_;         // the source had frames in the run before
};

}  // namespace pixhist
