#include "service/agents/lane_feed.hpp"

#include <algorithm>

namespace pixhist {
namespace {

/// Records taken in one round of one ring at most, so that rings take turns.
constexpr std::size_t records_per_round = 4096;

BatchLimits within_ring(BatchLimits limits, const ByteRing& ring) {
  limits.bytes = std::min(limits.bytes, ring.capacity() / 4);
  return limits;
}

}  // namespace

void LaneFeed::NumberRange::add(const RecordInfo& info) {
  if (!info.has_number) return;
  lowest = any ? std::min(lowest, info.number) : info.number;
  highest = any ? std::max(highest, info.number) : info.number;
  any = true;
}

LaneFeed::LaneFeed(IngestLane& lane, std::size_t lane_index, SubmitSource& source, SourceSequence& sequence,
                   BatchLimits limits, BatchSubmitter& submitter)
    : lane_(lane),
      source_(source),
      sequence_(sequence),
      submitter_(submitter),
      batcher_(lane.source, lane_index, lane.ring, within_ring(limits, lane.ring)) {}

bool LaneFeed::advance(const FeedRound& round) {
  bool worked = submit_closed();
  if (closed_ || worked) return worked;
  for (std::size_t n = 0; n < records_per_round && !at_limit() && lane_.ring.available() != 0; ++n) {
    const Record& record = lane_.ring.peek();
    if (is_mark() || (!batcher_.empty() && !batcher_.accepts(record))) {
      if (batcher_.empty()) break;  // at a mark
      close_batch();
      break;
    }
    if (record.info.received > round.received_until) break;
    take_frame(record, round);
    worked = true;
  }
  if (!batcher_.empty() && (batcher_.due(round.now) || at_limit())) close_batch();
  if (worked) source_.progress.counters.open.set(sequence_.ledger.open());
  return submit_closed() || worked;
}

std::optional<std::chrono::nanoseconds> LaneFeed::next_received() const {
  if (closed_ || !can_take()) return std::nullopt;
  if (is_mark()) return std::nullopt;
  return lane_.ring.peek().info.received;
}

void LaneFeed::take_frame(const Record& record, const FeedRound& round) {
  auto& counters = source_.progress.counters;
  last_received_ = record.info.received;
  lane_.ring.take();
  counters.taken_pixel_bytes.add(record.payload_bytes);
  counters.taken.add();
  const Verdict verdict = sequence_.ledger.judge(record.info);
  counters.missing.add(verdict.missing);
  if (verdict.restarted) counters.restarted.add();
  if (verdict.late) counters.late.add();

  std::optional<DiscardReason> discard = verdict.discard;
  if (!discard && round.stopped) discard = DiscardReason::stop;
  if (discard) counters.discard(*discard);
  if (discard && batcher_.empty()) {  // nothing to mask it in: give its bytes back
    release_later(1);
    return;
  }
  batcher_.add(record, !discard);
  if (discard) return;
  open_numbers_.add(record.info);
  if ((record.info.flags & frame_flags::complete) == 0) counters.incomplete.add();
  sequence_.frames_in_run = true;
}

void LaneFeed::ask_to_be_woken() {
  const bool behind_barrier = barrier_ != no_target || mark_barrier_ != no_target;
  wake_at_ = lane_.ring.taken() + (behind_barrier ? 1 : batcher_.records_to_fill());
  lane_.wake.set(wake_at_);
}

void LaneFeed::close_batch() {
  closed_ = batcher_.close();
  closed_numbers_ = open_numbers_;
  open_numbers_ = {};
}

bool LaneFeed::submit_closed() {
  if (!closed_) return false;
  const auto ticket = submitter_.try_submit(*closed_);
  if (!ticket) return false;
  release_later(closed_->records);
  if (closed_numbers_.any) {
    auto& progress = source_.progress;
    const bool known = progress.numbers_known.get() != 0;
    progress.first_frame.set(known ? std::min(progress.first_frame.get(), closed_numbers_.lowest)
                                   : closed_numbers_.lowest);
    progress.last_frame.set(known ? std::max(progress.last_frame.get(), closed_numbers_.highest)
                                  : closed_numbers_.highest);
    progress.numbers_known.set(1);
    progress.last_number.set(closed_numbers_.highest);
    progress.last_number_known.set(1);
  }
  closed_.reset();
  return true;
}

void LaneFeed::take_mark() {
  if (mark().info.kind == RecordKind::frame) return;
  lane_.ring.take();
  release_later(1);
}

void LaneFeed::release_later(std::size_t records) {
  const Ticket after = submitter_.last_ticket();
  if (!releases_.empty() && releases_.back().after == after)
    releases_.back().records += records;
  else
    releases_.push_back({after, records});
}

void LaneFeed::release_copied() {
  bool released = false;
  while (!releases_.empty() && releases_.front().after <= submitter_.copied()) {
    lane_.ring.release(releases_.front().records);
    releases_.pop_front();
    released = true;
  }
  if (released) lane_.space.ring();
}

}  // namespace pixhist
