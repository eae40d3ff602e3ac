#include "service/agents/batch_submitter.hpp"

#include <algorithm>

namespace pixhist {
namespace {

std::chrono::nanoseconds to_duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::optional<Ticket> BatchSubmitter::try_submit(Batch& batch) {
  // A batch is booked before its slot is taken again: its times are the slot's.
  if (in_flight_.size() >= pipeline_.slots()) reap();
  if (in_flight_.size() >= pipeline_.slots()) return std::nullopt;
  const InFlight entry{last_ticket_ + 1, batch.source, batch.good_frames(), batch.oldest};
  if (!pipeline_.try_submit(batch)) return std::nullopt;
  in_flight_.push_back(entry);
  board_.batches.add();
  sources_[entry.source].progress.batches_in_run.add();
  board_.batches_in_flight.set(in_flight_.size());
  const Ticket ticket = ++last_ticket_;
  reap();  // the CPU twin is done already; its time is that of its last batch
  return ticket;
}

bool BatchSubmitter::reap() {
  if (in_flight_.empty()) return false;
  const auto before = progress_;
  progress_ = pipeline_.progress();
  while (!in_flight_.empty() && in_flight_.front().ticket <= progress_.accumulated) {
    book(in_flight_.front());
    in_flight_.pop_front();
  }
  board_.batches_in_flight.set(in_flight_.size());
  return progress_.copied != before.copied || progress_.accumulated != before.accumulated;
}

bool BatchSubmitter::idle(std::size_t source) const {
  return std::none_of(in_flight_.begin(), in_flight_.end(),
                      [source](const InFlight& batch) { return batch.source == source; });
}

void BatchSubmitter::drain() {
  pipeline_.drain();
  reap();
}

void BatchSubmitter::book(const InFlight& done) {
  auto& progress = sources_[done.source].progress;
  const auto bad = pipeline_.bad_frames(done.ticket);
  progress.accumulated_unix_ms.set(unix_milliseconds(clock_.wall()));  // who sees the count sees its time
  progress.counters.accumulated.add(done.good_frames - bad);
  progress.counters.discard(DiscardReason::decode, bad);
  progress.frames_in_run.add(done.good_frames - bad);
  book_flow(done.source);
  const auto batches = sources_[done.source].counts.batches_of_kernel();
  for (std::size_t k = 0; k < batches.size(); ++k) progress.batches_of_kernel[k].set(batches[k]);
  board_.frame_latency.observe(clock_.now() - done.oldest);
  const BatchSeconds took = pipeline_.seconds(done.ticket);
  if (took.copy > 0) board_.batch_copy.observe(to_duration(took.copy));
  board_.batch_kernel.observe(to_duration(took.kernel));
}

void BatchSubmitter::book_flow(std::size_t source) {
  auto& progress = sources_[source].progress;
  auto& seen = flow_seen_[source];
  const auto now = sources_[source].counts.flow_totals();
  progress.values_below.add(now.below - seen.below);
  progress.values_above.add(now.above - seen.above);
  progress.values_invalid.add(now.invalid - seen.invalid);
  progress.values_other_stage.add(now.other_stage - seen.other_stage);
  seen = now;
}

void BatchSubmitter::counts_zeroed(std::size_t source) { flow_seen_[source] = {}; }

}  // namespace pixhist
