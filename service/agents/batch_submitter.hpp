#pragma once
// Hands closed batches to the pipeline, and books them when it reports them done. Submit thread only.

#include <deque>
#include <optional>
#include <vector>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/batch/batch.hpp"
#include "core/batch/sequence_ledger.hpp"
#include "core/pipeline/pipeline.hpp"
#include "core/time/clock.hpp"
#include "service/agents/source_progress.hpp"

namespace pixhist {

/// A source as the submit thread sees it. Everything outlives the thread.
struct SubmitSource {
  SourceProgress& progress;
  PixelCounts& counts;
  SequenceRules sequence;
};

class BatchSubmitter {
 public:
  BatchSubmitter(Pipeline& pipeline, const Clock& clock, std::vector<SubmitSource>& sources,
                 PipelineProgressBoard& board)
      : pipeline_(pipeline), clock_(clock), sources_(sources), board_(board), flow_seen_(sources.size()) {}

  /// The ticket of the batch, or nothing (batch untouched) while all slots are busy.
  std::optional<Ticket> try_submit(Batch& batch);
  /// Books what is done since the last call. True if there was anything.
  bool reap();
  /// Up to which ticket ring bytes may be released.
  Ticket copied() const { return progress_.copied; }
  Ticket last_ticket() const { return last_ticket_; }
  bool idle() const { return in_flight_.empty(); }
  /// Everything of this source is booked.
  bool idle(std::size_t source) const;
  /// Waits until everything submitted is booked.
  void drain();
  /// Forgets the per-run totals the counts of a source carry; call when they have been zeroed.
  void counts_zeroed(std::size_t source);

 private:
  struct InFlight {
    Ticket ticket;
    std::size_t source;
    std::uint64_t good_frames;
    std::chrono::nanoseconds oldest;
  };
  void book(const InFlight& done);
  void book_flow(std::size_t source);

  Pipeline& pipeline_;
  const Clock& clock_;
  std::vector<SubmitSource>& sources_;
  PipelineProgressBoard& board_;
  std::deque<InFlight> in_flight_;
  std::vector<FlowTotals> flow_seen_;  // of the run, already added to the lifetime totals
  PipelineProgress progress_;
  Ticket last_ticket_ = 0;
};

}  // namespace pixhist
