#pragma once
// The one consumer of the rings and of the device: takes frames, feeds the pipeline, executes commands.
// Readers of what it does: RunBoard, SourceProgress, PipelineProgressBoard. Everything else is its own.

#include <optional>
#include <span>
#include <vector>

#include "service/agents/agent.hpp"
#include "service/agents/command_queue.hpp"
#include "service/agents/doorbell.hpp"
#include "service/agents/lane_feed.hpp"
#include "service/agents/run_control.hpp"

namespace pixhist {

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
  bool pass_marks();
  bool start_mark(std::size_t lane);
  bool run_commands();
  bool barrier_reached() const;
  void lose_device();

  SubmitParts parts_;
  BatchSubmitter submitter_;
  RunControl run_;
  std::vector<SourceSequence> sequences_;
  std::vector<LaneFeed> feeds_;
  std::vector<std::vector<std::size_t>> feeds_of_source_;  // indices into feeds_
  std::vector<std::optional<std::size_t>> waiting_mark_;   // per source: the lane whose mark is waited for
  std::optional<Command> active_;                          // popped, its barrier not yet reached
};

}  // namespace pixhist
