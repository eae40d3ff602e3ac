// How a run ends under runs.policy per_run: the part of RunControl that closes runs.

#include <algorithm>

#include "service/agents/run_control.hpp"

namespace pixhist {

bool RunControl::can_pass(std::size_t source) const {
  if (closing_) return !closing_->has_part(source);
  return !publishing_ && parts_.closed.has_free();
}

void RunControl::pass(std::size_t source, const RecordInfo& mark) {
  if (!closing_) begin_closing();
  leave_run(source, mark);
  take_part(source);
  zero(source);
  info_.run_of_source[source] = info_.run == closing_->run() ? "" : info_.run;
  parts_.board.set_info(info_);
  finish_if_complete();
}

void RunControl::begin_closing() {
  closing_.emplace(info_, parts_.closed.take(), parts_.sources.size(),
                   parts_.clock.now() + rules_.close_after);
  info_.closing = info_.run;
}

/// The source's numbers are settled and its key is left: what still comes with it is stale_run.
void RunControl::leave_run(std::size_t source, const RecordInfo& mark) {
  auto& sequence = parts_.sequences[source];
  auto& counters = parts_.sources[source].progress.counters;
  counters.missing.add(sequence.ledger.end(mark));
  const RunKey key = sequence.ledger.key();
  sequence.ledger.leave();
  counters.open.set(0);
  // One that sent nothing knows the run by the key of the others, if they agree on one.
  if (sequence.closing_keys.size() == 1) sequence.ledger.leave(sequence.closing_keys.front());
  sequence.closing_keys.clear();
  if (!key.present()) return;
  for (std::size_t i = 0; i < parts_.sequences.size(); ++i) {
    auto& keys = parts_.sequences[i].closing_keys;
    const bool waits = i != source && !closing_->has_part(i);
    if (waits && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
}

/// True of the run alone: frames that wait in the rings belong to the next one.
void RunControl::take_part(std::size_t source) {
  auto& s = parts_.sources[source];
  SourceCut cut = cut_of(source, since(start_of_run(lifetime_account(source)), info_.base[source]));
  cut.account.open = s.progress.counters.open.get();
  closing_->take_part(source, s.counts, parts_.places.placed(), std::move(cut),
                      s.progress.batches_in_run.get());
}

/// A source that sends nothing, run after run, is not waited for.
bool RunControl::awaited(std::size_t source) const {
  return !closing_->has_part(source) && (parts_.sequences[source].frames_in_run || sent_before_[source]);
}

void RunControl::finish_if_complete() {
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) {
    if (awaited(i)) return;
  }
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) {  // the silent ones
    if (closing_->has_part(i)) continue;
    leave_run(i, RecordInfo{});
    take_part(i);
    zero(i);
    info_.run_of_source[i] = info_.run == closing_->run() ? "" : info_.run;
  }
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) sent_before_[i] = closing_->frames(i) != 0;
  if (info_.run == closing_->run()) info_.run.clear();
  finish_closing();
}

void RunControl::finish_closing() {
  closing_->finish(parts_.board.state(), parts_.clock.wall());
  publishing_ = std::move(closing_);
  closing_.reset();
  info_.closing.clear();
  parts_.board.set_info(info_);
  publish_if_ready();
}

bool RunControl::publish_if_ready() {
  if (!publishing_ || !publishing_->ready()) return false;
  ClosedRun run = publishing_->result();
  publishing_.reset();
  parts_.closed.publish(run);
  if (parts_.on_closed) parts_.on_closed(run);
  return true;
}

/// stop: the run is closed, its counts stay readable and its sequences go on.
void RunControl::close_stopped_run() {
  const auto& sequences = parts_.sequences;
  if (std::none_of(sequences.begin(), sequences.end(), [](const auto& s) { return s.frames_in_run; })) return;
  begin_closing();
  closing_->force(RunEnd::command);
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) {
    take_part(i);
    parts_.sequences[i].frames_in_run = false;
  }
  finish_closing();
}

void RunControl::note_frames() {
  if (!rules_.per_run) return;
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) {
    if (parts_.sequences[i].frames_in_run) note_start(i);
  }
}

void RunControl::note_start(std::size_t source) {
  if (rules_.per_run && !stopped() && info_.run_of_source[source].empty()) open_run("");
}

std::optional<std::chrono::nanoseconds> RunControl::close_deadline() const {
  if (!closing_ || closing_->forced()) return std::nullopt;
  return closing_->deadline();
}

void RunControl::force_close(RunEnd why) {
  if (closing_ && !closing_->forced()) closing_->force(why);
}

bool RunControl::ends_run(const Command& command) const {
  switch (command.kind) {
    case CommandKind::read: return command.then_reset;
    case CommandKind::reset: return true;
    case CommandKind::start: return stopped();
    case CommandKind::stop: return !stopped();
  }
  return false;
}

bool RunControl::ready_for(const Command& command) const {
  if (!rules_.per_run || !ends_run(command)) return true;
  if (closing_ || publishing_) return false;
  return command.kind != CommandKind::stop || parts_.closed.has_free();
}

}  // namespace pixhist
