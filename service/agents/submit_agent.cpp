#include "service/agents/submit_agent.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace pixhist {
namespace {

/// Changes between the rings of a source in one round, so that other sources have their turn.
constexpr int turns_per_round = 4096;
constexpr auto longest_wait = std::chrono::milliseconds(100);
/// While batches are on the device there is no other way to learn that they are done than to ask.
constexpr auto device_poll = std::chrono::microseconds(200);
/// Somebody waits for a read, and a small one on an idle device is done before a sleep would be over: so long
/// it is asked for without a sleep. Then each time a quarter later than it is old.
constexpr auto read_spin = std::chrono::microseconds(200);
/// Where a read is done at once (on the CPU) it may take long, and the next one may be there by then: after
/// so long frames have their turn.
constexpr auto commands_at_a_time = std::chrono::milliseconds(1);
/// Of a source with several sockets: one is at a mark, and frames from before it may still be on their way
/// through the others. They are waited for until they have a mark too or have been quiet for so long, but not
/// longer than this: the ring at the mark is not taken from meanwhile.
constexpr auto quiet_before_mark = std::chrono::milliseconds(200);
constexpr auto longest_before_mark = std::chrono::seconds(1);
constexpr auto quiet_poll = std::chrono::milliseconds(10);
/// Nobody rings when the last reader lets go of a held cut that a closing run needs the memory of.
constexpr auto reader_poll = std::chrono::milliseconds(1);

std::vector<SourceSequence> make_sequences(const std::vector<SubmitSource>& sources, bool per_run) {
  std::vector<SourceSequence> sequences;
  for (const auto& source : sources) {
    sequences.emplace_back(source.sequence);
    sequences.back().per_run = per_run;
  }
  return sequences;
}

}  // namespace

SubmitAgent::SubmitAgent(SubmitParts parts, bool autostart)
    : parts_(std::move(parts)),
      submitter_(parts_.pipeline, parts_.clock, parts_.sources, parts_.pipeline_board),
      sequences_(make_sequences(parts_.sources, parts_.runs.per_run)),
      run_({parts_.clock, parts_.sources, sequences_, parts_.places, submitter_, parts_.run_board,
            parts_.pipeline_board, parts_.closed_runs, parts_.notes.run_closed},
           parts_.lanes, parts_.runs),
      feeds_of_source_(parts_.sources.size()),
      met_marks_(parts_.sources.size()),
      blocked_(parts_.sources.size()),
      mark_waits_(parts_.sources.size()),
      missing_seen_(parts_.sources.size()) {
  for (std::size_t i = 0; i < parts_.lanes.size(); ++i) {
    const auto source = parts_.lanes[i]->source;
    feeds_.emplace_back(*parts_.lanes[i], i, parts_.sources[source], sequences_[source], parts_.limits,
                        submitter_);
    feeds_of_source_[source].push_back(i);
  }
  run_.open(autostart);
}

bool SubmitAgent::step() {
  const auto begin = parts_.clock.now();
  bool worked = false;
  try {
    worked |= run_commands();
    worked |= move_frames();
    worked |= run_.poll_reads();
  } catch (const DeviceLost&) {
    lose_device();
    throw;
  }
  if (worked)
    parts_.pipeline_board.busy_ns.fetch_add(static_cast<std::uint64_t>((parts_.clock.now() - begin).count()),
                                            std::memory_order_relaxed);
  return worked;
}

void SubmitAgent::wait() {
  std::chrono::nanoseconds at_most = longest_wait;
  if (!submitter_.idle() || run_.reads_pending()) at_most = device_poll;
  const auto now = parts_.clock.now();
  const auto read_begun = run_.latest_read();
  if (read_begun && now - *read_begun < read_spin) return std::this_thread::yield();
  const auto until = [&](std::chrono::nanoseconds deadline) {
    at_most = std::clamp(deadline - now, std::chrono::nanoseconds(0), at_most);
  };
  if (read_begun) until(now + (now - *read_begun) / 4);
  if (const auto deadline = run_.close_deadline()) until(*deadline);
  if (std::find(blocked_.begin(), blocked_.end(), true) != blocked_.end()) until(now + reader_poll);
  for (const auto& f : feeds_) {
    if (const auto deadline = f.deadline()) until(*deadline);
    if (waits_at_mark(f)) until(now + quiet_poll);
  }
  for (auto& f : feeds_) f.ask_to_be_woken();
  parts_.doorbell.wait(at_most, [this] {
    return (!active_ && parts_.commands.ready(run_.large_reads_wait())) ||
           (submitter_.idle() && std::any_of(feeds_.begin(), feeds_.end(), [this](auto& f) {
              return !blocked_[f.source_index()] && !waits_at_mark(f) && f.has_work();
            }));
  });
}

bool SubmitAgent::move_frames() {
  bool worked = false;
  for (const auto& feeds : feeds_of_source_) worked |= take_in_order(feeds);
  worked |= submitter_.reap();
  for (auto& f : feeds_) f.release_copied();
  run_.note_frames();
  const auto deadline = run_.close_deadline();
  if (deadline && parts_.clock.now() >= *deadline) run_.force_close(RunEnd::timeout);
  for (std::size_t source = 0; source < sequences_.size(); ++source) worked |= pass_mark(source);
  note_missing();
  return worked;
}

/// The rings of one source are taken from in the order of receipt. One after the other, a batch at a time,
/// would put the frame numbers out of order by more than their window.
bool SubmitAgent::take_in_order(const std::vector<std::size_t>& feeds) {
  FeedRound round{parts_.clock.now(), run_.stopped()};
  bool worked = false;
  if (feeds.size() > 1) {
    const Ticket begin = submitter_.last_ticket();
    for (int turn = 0; turn < turns_per_round && submitter_.last_ticket() - begin < feeds.size(); ++turn) {
      LaneFeed* earliest = nullptr;
      round.received_until = std::chrono::nanoseconds::max();
      for (const auto i : feeds) {
        const auto received = feeds_[i].next_received();
        if (!received) continue;
        if (earliest == nullptr || *received < *earliest->next_received()) {
          if (earliest != nullptr) round.received_until = *earliest->next_received();
          earliest = &feeds_[i];
        } else {
          round.received_until = std::min(round.received_until, *received);
        }
      }
      if (earliest == nullptr || !earliest->advance(round)) break;
      worked = true;
    }
    round.received_until = std::chrono::nanoseconds::min();  // below: only what is due
  }
  for (const auto i : feeds) worked |= feeds_[i].advance(round);
  return worked;
}

/// A mark is a barrier over all rings of its source: what they held when it was met is submitted first.
bool SubmitAgent::pass_mark(std::size_t source) {
  auto& met = met_marks_[source];
  blocked_[source] = false;
  if (met && met->lane && !feeds_[*met->lane].at_mark()) end_mark(source);  // a command came in between
  const bool worked = !met && meet_mark(source);
  if (!met) return false;
  const auto& feeds = feeds_of_source_[source];
  if (!std::all_of(feeds.begin(), feeds.end(), [&](auto i) { return feeds_[i].mark_barrier_reached(); }))
    return worked;

  LaneFeed* const feed = met->lane ? &feeds_[*met->lane] : nullptr;
  const RecordInfo mark = feed != nullptr ? feed->mark().info : RecordInfo{};
  const bool is_end = mark.kind == RecordKind::run_end;
  const bool passes = feed != nullptr ? ends_run(source, mark) : run_.overdue(source);
  blocked_[source] = passes && !run_.can_pass(source);
  if (blocked_[source] || (passes && !submitter_.idle(source))) return worked;
  auto& counters = parts_.sources[source].progress.counters;
  auto& ledger = sequences_[source].ledger;
  const RunKey ended = ledger.key();
  const bool restarts = feed != nullptr && mark.kind == RecordKind::frame && ledger.sequence_open();
  if (passes) {
    run_.pass(source, is_end ? mark : RecordInfo{});
    if (restarts) counters.restarted.add();
  } else if (is_end) {
    counters.missing.add(ledger.end(mark));
    counters.open.set(ledger.open());
  }
  if (mark.kind == RecordKind::run_start) run_.note_start(source);
  take_repeated_ends(source, feed, ended);
  if (feed != nullptr) feed->take_mark();
  end_mark(source);
  return true;
}

/// The end of run `ended`, said on other sockets than that of `passed`, too.
void SubmitAgent::take_repeated_ends(std::size_t source, const LaneFeed* passed, const RunKey& ended) {
  for (const auto i : feeds_of_source_[source]) {
    if (&feeds_[i] == passed || !feeds_[i].at_mark()) continue;
    const RecordInfo& mark = feeds_[i].mark().info;
    if (mark.kind == RecordKind::run_end && (!mark.run.present() || mark.run == ended)) feeds_[i].take_mark();
  }
}

/// True if the source stands at a mark that no barrier of a command lies before, or is to leave a run that is
/// not waited for.
bool SubmitAgent::meet_mark(std::size_t source) {
  MetMark met;
  for (const auto i : feeds_of_source_[source]) {
    if (!feeds_[i].at_mark() || feeds_[i].at_barrier()) continue;
    // First an end that was said before: it is not the mark that others wait for.
    if (!met.lane || said_before(source, feeds_[i].mark().info)) met.lane = i;
  }
  if (met.lane && !others_are_there(source, *met.lane)) met.lane.reset();
  if (!met.lane && !run_.overdue(source)) return false;
  for (const auto i : feeds_of_source_[source]) {
    if (i != met.lane) feeds_[i].begin_mark_barrier();
  }
  met_marks_[source] = met;
  return true;
}

/// Whether the mark at the head of `lane` need not wait for the source's other rings, or no longer.
bool SubmitAgent::others_are_there(std::size_t source, std::size_t lane) {
  const auto& feeds = feeds_of_source_[source];
  const RecordInfo& mark = feeds_[lane].mark().info;
  const bool ends_nothing = mark.kind == RecordKind::run_end && !sequences_[source].ledger.ends(mark);
  if (feeds.size() == 1 || draining_ || ends_nothing) return true;
  const auto now = parts_.clock.now();
  if (!mark_waits_[source]) mark_waits_[source] = now;
  const auto since = *mark_waits_[source];
  return now - since >= longest_before_mark || std::all_of(feeds.begin(), feeds.end(), [&](auto i) {
           const LaneFeed& other = feeds_[i];
           return other.at_mark() ||
                  (!other.can_take() && now - std::max(since, other.last_received()) >= quiet_before_mark);
         });
}

/// An end message of a run that has ended already.
bool SubmitAgent::said_before(std::size_t source, const RecordInfo& mark) const {
  return mark.kind == RecordKind::run_end && sequences_[source].ledger.has_left(mark.run);
}

void SubmitAgent::end_mark(std::size_t source) {
  for (const auto i : feeds_of_source_[source]) feeds_[i].end_mark_barrier();
  met_marks_[source].reset();
  mark_waits_[source].reset();
}

/// Whether the source passes the mark of the run it is in. An end without frames does nothing.
bool SubmitAgent::ends_run(std::size_t source, const RecordInfo& mark) const {
  const auto& sequence = sequences_[source];
  if (!run_.marks_count()) return false;
  if (mark.kind == RecordKind::run_end) return sequence.frames_in_run && sequence.ledger.ends(mark);
  const bool start_without_key = mark.kind == RecordKind::run_start && !mark.run.present();
  return sequence.begins_run(mark) || (start_without_key && sequence.frames_in_run);
}

void SubmitAgent::note_missing() {
  for (std::size_t i = 0; i < missing_seen_.size(); ++i) {
    const std::uint64_t in_all = parts_.sources[i].progress.counters.missing.get();
    const std::uint64_t numbers = in_all - std::exchange(missing_seen_[i], in_all);
    if (numbers > many_missing_numbers && parts_.notes.many_missing)
      parts_.notes.many_missing(i, numbers, in_all);
  }
}

bool SubmitAgent::run_commands() {
  const auto until = parts_.clock.now() + commands_at_a_time;
  bool worked = false;
  do {
    if (!active_) {
      active_ = parts_.commands.try_pop(run_.large_reads_wait());
      if (!active_) return worked;
      worked = true;
      if (active_->barrier()) {
        for (auto& f : feeds_) f.begin_barrier();
      }
    }
    if (!may_execute()) return worked;
    for (auto& f : feeds_) f.end_barrier();
    run_.execute(*active_);  // stays active_ while it runs: if the device is lost in it, it is answered so
    active_.reset();
    worked = true;
  } while (parts_.clock.now() < until);
  return worked;
}

/// A source that is blocked at a mark has got as far as it can: what it holds back is pending in the cut. But
/// a command that ends the run ends the closing of the one before first, and then nothing is blocked. What is
/// on the device is waited for here, step by step, so that this thread moves and can be stopped meanwhile.
bool SubmitAgent::may_execute() {
  if (!active_->barrier()) return true;
  if (!barrier_reached_or_blocked()) return false;
  if (active_->changes_run() && !submitter_.idle()) return false;
  if (!run_.ends_run(*active_)) return true;
  run_.force_close(RunEnd::command);
  return run_.ready_for(*active_) && barrier_reached();
}

bool SubmitAgent::barrier_reached_or_blocked() const {
  return std::all_of(feeds_.begin(), feeds_.end(),
                     [this](const LaneFeed& f) { return f.barrier_reached() || blocked_[f.source_index()]; });
}

bool SubmitAgent::barrier_reached() const {
  return std::all_of(feeds_.begin(), feeds_.end(), [](const LaneFeed& f) { return f.barrier_reached(); });
}

void SubmitAgent::lose_device() {
  parts_.run_board.set_state(RunState::device_lost);
  run_.fail_reads();
  CommandResult lost;
  lost.device_lost = true;
  if (!active_) active_ = parts_.commands.try_pop(false);
  for (; active_; active_ = parts_.commands.try_pop(false)) active_->answer(lost);
}

bool SubmitAgent::drain(const std::function<bool()>& give_up) {
  draining_ = true;
  for (auto& f : feeds_) f.begin_barrier();
  const auto done = [this] { return barrier_reached() && submitter_.idle(); };
  while (!done() && !give_up()) {
    if (barrier_reached_or_blocked()) run_.force_close(RunEnd::shutdown);
    if (!move_frames() && !run_.poll_reads()) wait();
  }
  const bool complete = done();
  for (auto& f : feeds_) f.end_barrier();
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    auto& counters = parts_.sources[i].progress.counters;
    counters.missing.add(sequences_[i].ledger.end());
    counters.open.set(0);
  }
  note_missing();
  return complete;
}

}  // namespace pixhist
