#pragma once
// A run that some of its sources have ended: its cut, put together source by source in memory that was there
// before. Submit thread only.

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "core/snapshot/assembly.hpp"
#include "service/agents/closed_runs.hpp"
#include "service/agents/run_board.hpp"

namespace pixhist {

class RunClosing {
 public:
  /// `snapshot`: from ClosedRuns::take(). `deadline`: when the sources left are not waited for any longer.
  RunClosing(const RunInfo& run, std::shared_ptr<Snapshot> snapshot, std::size_t sources,
             std::chrono::nanoseconds deadline);

  /// Reads what the source has counted; true of every batch accumulated before the call. `placed`: all
  /// sources.
  void take_part(std::size_t source, PixelCounts& counts, std::span<const PlacedSource> placed, SourceCut cut,
                 std::uint64_t batches);
  bool has_part(std::size_t source) const { return has_part_[source]; }
  bool has_all_parts() const;
  /// Frames of a source whose part is taken.
  std::uint64_t frames(std::size_t source) const { return snapshot_->cut.sources[source].frames; }

  const std::string& run() const { return snapshot_->cut.run; }
  std::chrono::nanoseconds deadline() const { return deadline_; }
  /// The sources without a part are not waited for any longer, for this reason.
  void force(RunEnd why) { end_ = why; }
  bool forced() const { return end_ != RunEnd::marks; }

  /// No further part is taken; `state`: of the service.
  void finish(RunState state, WallTime now);
  /// True once all reads are done.
  bool ready();
  /// When ready().
  ClosedRun result();

 private:
  std::string name_;
  std::chrono::nanoseconds deadline_;
  RunEnd end_ = RunEnd::marks;
  std::shared_ptr<Snapshot> snapshot_;
  std::vector<bool> has_part_;
  struct Part {
    std::size_t source;
    std::unique_ptr<CountRead> read;
  };
  std::vector<Part> parts_;  // behind snapshot_: the reads write into it until they are gone
};

}  // namespace pixhist
