#pragma once
// The submit thread's side of one ring: takes records in order, has their numbers judged, cuts batches,
// submits them, and releases the records when the pipeline no longer needs their bytes.
// Submit thread only.

#include <chrono>
#include <deque>
#include <limits>
#include <optional>

#include "core/batch/batcher.hpp"
#include "service/agents/batch_submitter.hpp"
#include "service/agents/ingest_lane.hpp"
#include "service/agents/source_sequence.hpp"

namespace pixhist {

/// What holds for one round over the feeds.
struct FeedRound {
  std::chrono::nanoseconds now;
  bool stopped = false;                                                       // frames are discarded{stop}
  std::chrono::nanoseconds received_until = std::chrono::nanoseconds::max();  // frames received later stay
};

class LaneFeed {
 public:
  static constexpr std::uint64_t no_target = std::numeric_limits<std::uint64_t>::max();

  LaneFeed(IngestLane& lane, std::size_t lane_index, SubmitSource& source, SourceSequence& sequence,
           BatchLimits limits, BatchSubmitter& submitter);

  /// Takes records until the ring is empty, a mark, a barrier, round.received_until or a bound on one round
  /// is reached; submits at most one batch. True if it did anything.
  bool advance(const FeedRound& round);

  /// Barrier: what is committed now is to be submitted before anything behind it is taken.
  void begin_barrier() { barrier_ = lane_.ring.committed(); }
  void end_barrier() { barrier_ = no_target; }
  bool at_barrier() const { return lane_.ring.taken() >= barrier_; }
  bool barrier_reached() const { return everything_taken_is_submitted() && at_barrier(); }

  /// The same for a mark in another ring of the source. It may lie behind an open barrier and then wins: a
  /// barrier asks for no less than what was committed, so a little more does no harm, while waiting would
  /// lock the two against each other. A feed that stands at a mark of its own has got as far as it can.
  void begin_mark_barrier() { mark_barrier_ = lane_.ring.committed(); }
  void end_mark_barrier() { mark_barrier_ = no_target; }
  bool mark_barrier_reached() const {
    return at_mark() || (everything_taken_is_submitted() && lane_.ring.taken() >= mark_barrier_);
  }

  /// The next record is a run mark, or a frame that acts as one, and everything before it is submitted: the
  /// source's other rings first.
  bool at_mark() const { return everything_taken_is_submitted() && lane_.ring.available() != 0 && is_mark(); }
  const Record& mark() const { return lane_.ring.peek(); }
  /// Takes the mark, unless it is a frame: that stays, to be taken as one.
  void take_mark();

  void release_copied();
  /// When the open batch must be closed at the latest.
  std::optional<std::chrono::nanoseconds> deadline() const { return batcher_.deadline(); }
  /// Before a sleep: the receive thread is to ring once the open batch can be full, or for the first frame of
  /// one. Until then only deadline() passes.
  void ask_to_be_woken();
  /// Records wait that advance() could take or submit, and that are worth not to sleep, or to wake up, for.
  bool has_work() const {
    if (closed_.has_value()) return true;
    const auto& ring = lane_.ring;
    return can_take() && (ring.committed() >= wake_at_ || lane_.wake.hurried(ring.taken()));
  }
  /// Receipt of the frame that advance() would take next; nothing if it would take none.
  std::optional<std::chrono::nanoseconds> next_received() const;
  /// Whether there is a record, and no barrier before it.
  bool can_take() const { return lane_.ring.available() != 0 && !at_limit(); }
  /// Receipt of the last frame taken; 0 before the first.
  std::chrono::nanoseconds last_received() const { return last_received_; }
  std::size_t source_index() const { return lane_.source; }

 private:
  struct Release {
    Ticket after;  // once the pipeline has copied up to here
    std::size_t records;
  };
  struct NumberRange {
    bool any = false;
    std::uint64_t lowest = 0;
    std::uint64_t highest = 0;
    void add(const RecordInfo& info);
  };

  /// Of the next record.
  bool is_mark() const {
    const RecordInfo& info = lane_.ring.peek().info;
    return info.kind != RecordKind::frame || sequence_.begins_run(info);
  }
  bool at_limit() const {
    return lane_.ring.taken() >= (mark_barrier_ != no_target ? mark_barrier_ : barrier_);
  }
  bool everything_taken_is_submitted() const { return !closed_ && batcher_.empty(); }
  void release_later(std::size_t records);
  void take_frame(const Record& record, const FeedRound& round);
  void close_batch();
  bool submit_closed();

  IngestLane& lane_;
  SubmitSource& source_;
  SourceSequence& sequence_;
  BatchSubmitter& submitter_;
  Batcher batcher_;
  std::optional<Batch> closed_;  // waits for a slot
  NumberRange open_numbers_;     // good frames of the batch being built
  NumberRange closed_numbers_;
  std::deque<Release> releases_;
  std::chrono::nanoseconds last_received_{};
  std::uint64_t wake_at_ = 0;          // records ever committed
  std::uint64_t barrier_ = no_target;  // records ever taken at which to stop
  std::uint64_t mark_barrier_ = no_target;
};

}  // namespace pixhist
