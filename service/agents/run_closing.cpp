#include "service/agents/run_closing.hpp"

#include <algorithm>
#include <utility>

namespace pixhist {

RunClosing::RunClosing(const RunInfo& run, std::shared_ptr<Snapshot> snapshot, std::size_t sources,
                       std::chrono::nanoseconds deadline)
    : name_(run.name), deadline_(deadline), snapshot_(std::move(snapshot)), has_part_(sources) {
  snapshot_->cut.run = run.run;
  snapshot_->cut.started_at = run.started_at;
  snapshot_->cut.sources.resize(sources);
}

void RunClosing::take_part(std::size_t source, PixelCounts& counts, std::span<const PlacedSource> placed,
                           SourceCut cut, std::uint64_t batches) {
  for (const auto& piece : plan_assembly(placed, *snapshot_)) {
    if (piece.source == source)
      parts_.push_back({source, counts.begin_reserved_read(piece.window, piece.target)});
  }
  cut.run = snapshot_->cut.run;
  snapshot_->cut.sources[source] = std::move(cut);
  snapshot_->cut.batches += batches;
  has_part_[source] = true;
}

bool RunClosing::has_all_parts() const {
  return std::all_of(has_part_.begin(), has_part_.end(), [](bool has) { return has; });
}

void RunClosing::finish(RunState state, WallTime now) {
  snapshot_->cut.state = state;
  snapshot_->cut.taken_at = now;
}

bool RunClosing::ready() {
  return std::all_of(parts_.begin(), parts_.end(), [](auto& part) { return part.read->ready(); });
}

ClosedRun RunClosing::result() {
  for (const auto& part : parts_) snapshot_->cut.sources[part.source].frames = part.read->frames();
  parts_.clear();
  return {name_, end_, std::move(snapshot_)};
}

}  // namespace pixhist
