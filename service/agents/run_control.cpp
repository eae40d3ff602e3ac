#include "service/agents/run_control.hpp"

#include <algorithm>

#include "service/agents/paused_read.hpp"

namespace pixhist {

RunControl::RunControl(RunParts parts, std::span<IngestLane* const> lanes, RunRules rules)
    : parts_(std::move(parts)),
      rules_(rules),
      receive_(parts_.sources.size()),
      sent_before_(parts_.sources.size(), true) {
  for (const auto* lane : lanes) receive_.at(lane->source).push_back(&lane->counters);
  info_.base.resize(parts_.sources.size());
  info_.run_of_source.resize(parts_.sources.size());
}

void RunControl::open(bool autostart) {
  new_run("");
  parts_.board.set_state(autostart ? RunState::running : RunState::stopped);
}

void RunControl::execute(Command& command) {
  if (command.kind == CommandKind::read) return begin_read(command);

  parts_.submitter.drain();  // nothing is left to wait for but reads: the last cut of a run is complete
  CommandResult result;
  result.cut = make_cut();
  const bool was_stopped = stopped();
  switch (command.kind) {
    case CommandKind::reset: new_run(command.name); break;
    case CommandKind::start:
      result.changed = was_stopped;
      if (was_stopped) {
        new_run(command.name);
        parts_.board.set_state(RunState::running);
      }
      break;
    case CommandKind::stop:
      result.changed = !was_stopped;
      if (rules_.per_run && !was_stopped) close_stopped_run();
      parts_.board.set_state(RunState::stopped);
      break;
    case CommandKind::read: break;
  }
  result.run = info_.run;
  result.state = parts_.board.state();
  command.answer(std::move(result));
}

void RunControl::begin_read(Command& command) {
  PendingRead read;
  read.begun = parts_.clock.now();
  read.result.cut = make_cut();
  const auto refuse = [&](const char* why) {
    CommandResult refused;
    refused.no_memory = why;
    command.answer(std::move(refused));
  };
  try {
    for (const auto& piece : plan_assembly(parts_.places.placed(), *command.snapshot)) {
      read.parts.push_back(begin_part(parts_.sources[piece.source].counts, piece, command.pause));
      read.part_sources.push_back(piece.source);
    }
  } catch (const DeviceMemoryError& e) {
    return refuse(e.what());
  } catch (const PinningRefused& e) {  // page-locked memory for the verdict of the read
    return refuse(e.what());
  }
  const auto held = std::chrono::floor<std::chrono::milliseconds>(parts_.clock.now() - read.begun);
  read.result.cut.paused_ms = static_cast<std::uint64_t>(held.count());
  if (command.then_reset) new_run("");
  read.result.run = info_.run;
  read.result.state = parts_.board.state();
  read.command = std::move(command);
  reads_.push_back(std::move(read));
  poll_reads();
}

bool RunControl::poll_reads() {
  const auto before = reads_.size();
  for (auto& read : reads_) {
    if (std::all_of(read.parts.begin(), read.parts.end(), [](auto& part) { return part->ready(); }))
      complete(read);
  }
  std::erase_if(reads_, [](const PendingRead& read) { return read.command.askers.empty(); });
  return publish_if_ready() || reads_.size() != before;
}

bool RunControl::large_reads_wait() const {
  return std::any_of(reads_.begin(), reads_.end(),
                     [](const PendingRead& read) { return read.command.is_large_read(); });
}

void RunControl::complete(PendingRead& read) {
  parts_.submitter.reap();  // who has the answer finds what it counts in the account too
  Snapshot& snapshot = *read.command.snapshot;
  for (std::size_t i = 0; i < read.parts.size(); ++i) {
    snapshot.capped += read.parts[i]->capped();
    read.result.cut.sources[read.part_sources[i]].frames = read.parts[i]->frames();
  }
  snapshot.cut = read.result.cut;
  read.result.snapshot = std::move(read.command.snapshot);
  parts_.pipeline_board.snapshot.observe(parts_.clock.now() - read.begun);
  read.command.answer(std::move(read.result));
}

void RunControl::fail_reads() {
  for (auto& read : reads_) {
    CommandResult lost;
    lost.device_lost = true;
    read.command.answer(lost);
  }
  reads_.clear();
}

Cut RunControl::make_cut() {
  Cut cut;
  cut.run = info_.run;
  cut.state = parts_.board.state();
  cut.started_at = info_.started_at;
  cut.taken_at = parts_.clock.wall();
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) {
    cut.sources.push_back(cut_of(i, since(lifetime_account(i), info_.base[i])));
    cut.batches += parts_.sources[i].progress.batches_in_run.get();
  }
  return cut;
}

SourceCut RunControl::cut_of(std::size_t source, const FrameAccount& run_account) {
  auto& s = parts_.sources[source];
  SourceCut cut;
  cut.source = s.progress.name;
  cut.run = info_.run_of_source[source];
  cut.frames = s.counts.frames();
  if (s.progress.numbers_known.get() != 0) {
    cut.first_frame = s.progress.first_frame.get();
    cut.last_frame = s.progress.last_frame.get();
  }
  cut.account = run_account;
  // The cut holds what is submitted; the ledger books it when the device reports it done.
  const std::uint64_t unbooked = cut.frames - s.progress.frames_in_run.get();
  cut.account.accumulated += unbooked;
  cut.account.in_flight -= unbooked;
  cut.pending = cut.account.in_ring + cut.account.in_flight;
  cut.saturated = s.counts.saturated_cells();
  s.progress.cells_saturated.set(cut.saturated);
  return cut;
}

/// Every source is in it, zeroed.
void RunControl::new_run(const std::string& name) {
  parts_.submitter.drain();  // what was submitted is booked to the run that ends
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) zero(i);
  open_run(name);
}

/// For the sources that are not in a closing run.
void RunControl::open_run(const std::string& name) {
  info_.started_at = parts_.clock.wall();
  info_.run = make_run_id(info_.started_at, ++runs_);
  info_.name = name;
  for (std::size_t i = 0; i < parts_.sources.size(); ++i) {
    if (!closing_ || closing_->has_part(i)) info_.run_of_source[i] = info_.run;
  }
  parts_.board.set_info(info_);
}

/// What the source took is booked.
void RunControl::zero(std::size_t source) {
  auto& s = parts_.sources[source];
  s.counts.zero();
  s.progress.frames_in_run.set(0);
  s.progress.batches_in_run.set(0);
  s.progress.numbers_known.set(0);
  parts_.submitter.counts_zeroed(source);
  parts_.sequences[source].frames_in_run = false;
  info_.base[source] = start_of_run(lifetime_account(source));
}

FrameAccount RunControl::lifetime_account(std::size_t source) const {
  return read_account(receive_[source], parts_.sources[source].progress.counters);
}

}  // namespace pixhist
