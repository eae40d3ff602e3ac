#include "service/agents/submit_agent.hpp"

#include <algorithm>

namespace pixhist {
namespace {

/// Changes between the rings of a source in one round, so that other sources have their turn.
constexpr int turns_per_round = 4096;
constexpr auto longest_wait = std::chrono::milliseconds(100);
/// While batches are on the device there is no other way to learn that they are done than to ask.
constexpr auto device_poll = std::chrono::microseconds(200);

}  // namespace

SubmitAgent::SubmitAgent(SubmitParts parts, bool autostart)
    : parts_(std::move(parts)),
      submitter_(parts_.pipeline, parts_.clock, parts_.sources, parts_.pipeline_board),
      run_(parts_.clock, parts_.sources, parts_.lanes, parts_.places, submitter_, parts_.run_board,
           parts_.pipeline_board),
      feeds_of_source_(parts_.sources.size()),
      waiting_mark_(parts_.sources.size()) {
  for (const auto& source : parts_.sources) sequences_.emplace_back(source.sequence);
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
  for (const auto& f : feeds_) {
    if (const auto deadline = f.deadline())
      at_most = std::clamp(*deadline - now, std::chrono::nanoseconds(0), at_most);
  }
  parts_.doorbell.wait(at_most, [this] {
    return (!active_ && !parts_.commands.empty()) ||
           (submitter_.idle() &&
            std::any_of(feeds_.begin(), feeds_.end(), [](auto& f) { return f.has_work(); }));
  });
}

bool SubmitAgent::move_frames() {
  bool worked = false;
  for (const auto& feeds : feeds_of_source_) worked |= take_in_order(feeds);
  worked |= submitter_.reap();
  for (auto& f : feeds_) f.release_copied();
  return pass_marks() || worked;
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
bool SubmitAgent::pass_marks() {
  bool worked = false;
  for (std::size_t lane = 0; lane < feeds_.size(); ++lane) {
    auto& feed = feeds_[lane];
    const auto source = feed.source_index();
    if (!feed.at_mark()) continue;
    if (!waiting_mark_[source]) worked |= start_mark(lane);
    if (waiting_mark_[source] != lane) continue;
    const bool passed = std::all_of(feeds_.begin(), feeds_.end(), [&](const LaneFeed& other) {
      return other.source_index() != source || other.mark_barrier_reached();
    });
    if (!passed) continue;
    auto& counters = parts_.sources[source].progress.counters;
    if (feed.mark().info.kind == RecordKind::run_end)
      counters.missing.add(sequences_[source].ledger.end(feed.mark().info));
    counters.open.set(sequences_[source].ledger.open());
    feed.take_mark();
    for (auto& other : feeds_) {
      if (other.source_index() == source) other.end_mark_barrier();
    }
    waiting_mark_[source].reset();
    worked = true;
  }
  return worked;
}

bool SubmitAgent::start_mark(std::size_t lane) {
  const auto source = feeds_[lane].source_index();
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    if (i != lane && feeds_[i].source_index() == source) feeds_[i].begin_mark_barrier();
  }
  waiting_mark_[source] = lane;
  return true;
}

bool SubmitAgent::run_commands() {
  bool worked = false;
  while (true) {
    if (!active_) {
      active_ = parts_.commands.try_pop();
      if (!active_) return worked;
      worked = true;
      if (active_->barrier()) {
        for (auto& f : feeds_) f.begin_barrier();
      }
    }
    if (active_->barrier() && !barrier_reached()) return worked;
    for (auto& f : feeds_) f.end_barrier();
    run_.execute(*active_);  // stays active_ while it runs: if the device is lost in it, it is answered so
    active_.reset();
    worked = true;
  }
}

bool SubmitAgent::barrier_reached() const {
  return std::all_of(feeds_.begin(), feeds_.end(), [](const LaneFeed& f) { return f.barrier_reached(); });
}

void SubmitAgent::lose_device() {
  parts_.run_board.set_state(RunState::device_lost);
  run_.fail_reads();
  if (!active_) active_ = parts_.commands.try_pop();
  for (; active_; active_ = parts_.commands.try_pop()) {
    CommandResult lost;
    lost.device_lost = true;
    if (active_->done) active_->done(std::move(lost));
  }
}

bool SubmitAgent::drain(const std::function<bool()>& give_up) {
  for (auto& f : feeds_) f.begin_barrier();
  while (!barrier_reached() && !give_up()) {
    if (!move_frames()) wait();
  }
  const bool complete = barrier_reached();
  for (auto& f : feeds_) f.end_barrier();
  if (complete) submitter_.drain();
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    auto& counters = parts_.sources[i].progress.counters;
    counters.missing.add(sequences_[i].ledger.end());
    counters.open.set(0);
  }
  return complete;
}

}  // namespace pixhist
