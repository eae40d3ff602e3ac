#pragma once
// The run: state, run ids, cuts, snapshots, zeroing. Submit thread only (construction: main, before it
// starts).

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "service/agents/batch_submitter.hpp"
#include "service/agents/command_queue.hpp"
#include "service/agents/ingest_lane.hpp"
#include "service/agents/place_board.hpp"
#include "service/agents/run_board.hpp"

namespace pixhist {

class RunControl {
 public:
  RunControl(const Clock& clock, std::vector<SubmitSource>& sources, std::span<IngestLane* const> lanes,
             const PlaceBoard& places, BatchSubmitter& submitter, RunBoard& board,
             PipelineProgressBoard& pipeline_board);

  /// From starting to running, or to stopped. Opens the first run.
  void open(bool autostart);
  bool stopped() const { return board_.run_state() == RunState::stopped; }

  /// Executes a command whose barrier, if it has one, has been reached. Its answer comes at once or from
  /// poll_reads(). Throws DeviceLost, with a command that is not answered left whole.
  void execute(Command& command);
  /// Completes reads that have become ready. True if any did.
  bool poll_reads();
  bool reads_pending() const { return !reads_.empty(); }
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
  std::vector<FrameAccount> lifetime_accounts() const;
  SourceCut cut_of(std::size_t source, const FrameAccount& run_account);

  const Clock& clock_;
  std::vector<SubmitSource>& sources_;
  std::vector<std::vector<const ReceiveCounters*>> receive_;  // per source
  const PlaceBoard& places_;
  BatchSubmitter& submitter_;
  RunBoard& board_;
  PipelineProgressBoard& pipeline_board_;
  std::vector<PendingRead> reads_;
  std::uint32_t runs_ = 0;
  std::uint64_t batches_at_start_ = 0;
};

}  // namespace pixhist
