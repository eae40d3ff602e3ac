#include "service/agents/run_control.hpp"

#include <algorithm>

#include "service/agents/paused_read.hpp"

namespace pixhist {

RunControl::RunControl(const Clock& clock, std::vector<SubmitSource>& sources,
                       std::span<IngestLane* const> lanes, const PlaceBoard& places,
                       BatchSubmitter& submitter, RunBoard& board, PipelineProgressBoard& pipeline_board)
    : clock_(clock),
      sources_(sources),
      receive_(sources.size()),
      places_(places),
      submitter_(submitter),
      board_(board),
      pipeline_board_(pipeline_board) {
  for (const auto* lane : lanes) receive_.at(lane->source).push_back(&lane->counters);
}

void RunControl::open(bool autostart) {
  new_run("");
  board_.set_state(autostart ? RunState::running : RunState::stopped);
}

void RunControl::execute(Command& command) {
  if (command.kind == CommandKind::read) return begin_read(command);

  submitter_.drain();  // at most two batches: the last cut of a run is complete
  CommandResult result;
  result.cut = make_cut();
  const bool was_stopped = stopped();
  switch (command.kind) {
    case CommandKind::reset: new_run(command.name); break;
    case CommandKind::start:
      result.changed = was_stopped;
      if (was_stopped) {
        new_run(command.name);
        board_.set_state(RunState::running);
      }
      break;
    case CommandKind::stop:
      result.changed = !was_stopped;
      board_.set_state(RunState::stopped);
      break;
    case CommandKind::read: break;
  }
  result.run = board_.info().run;
  result.state = board_.state();
  command.done(std::move(result));
}

void RunControl::begin_read(Command& command) {
  PendingRead read;
  read.begun = clock_.now();
  read.result.cut = make_cut();
  const auto refuse = [&](const char* why) {
    CommandResult refused;
    refused.no_memory = why;
    command.done(std::move(refused));
  };
  try {
    for (const auto& piece : plan_assembly(places_.placed(), *command.snapshot)) {
      read.parts.push_back(begin_part(sources_[piece.source].counts, piece, command.pause));
      read.part_sources.push_back(piece.source);
    }
  } catch (const DeviceMemoryError& e) {
    return refuse(e.what());
  } catch (const PinningRefused& e) {  // page-locked memory for the verdict of the read
    return refuse(e.what());
  }
  const auto held = std::chrono::floor<std::chrono::milliseconds>(clock_.now() - read.begun);
  read.result.cut.paused_ms = static_cast<std::uint64_t>(held.count());
  if (command.then_reset) new_run("");
  read.result.run = board_.info().run;
  read.result.state = board_.state();
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
  std::erase_if(reads_, [](const PendingRead& read) { return !read.command.done; });
  return reads_.size() != before;
}

void RunControl::complete(PendingRead& read) {
  Snapshot& snapshot = *read.command.snapshot;
  for (std::size_t i = 0; i < read.parts.size(); ++i) {
    snapshot.capped += read.parts[i]->capped();
    read.result.cut.sources[read.part_sources[i]].frames = read.parts[i]->frames();
  }
  snapshot.cut = read.result.cut;
  read.result.snapshot = std::move(read.command.snapshot);
  pipeline_board_.snapshot.observe(clock_.now() - read.begun);
  std::exchange(read.command.done, nullptr)(std::move(read.result));
}

void RunControl::fail_reads() {
  for (auto& read : reads_) {
    CommandResult lost;
    lost.device_lost = true;
    read.command.done(std::move(lost));
  }
  reads_.clear();
}

Cut RunControl::make_cut() {
  const RunInfo info = board_.info();
  Cut cut;
  cut.run = info.run;
  cut.state = board_.state();
  cut.started_at = info.started_at;
  cut.taken_at = clock_.wall();
  cut.batches = pipeline_board_.batches.get() - batches_at_start_;
  const auto accounts = lifetime_accounts();
  for (std::size_t i = 0; i < sources_.size(); ++i)
    cut.sources.push_back(cut_of(i, since(accounts[i], info.base[i])));
  return cut;
}

SourceCut RunControl::cut_of(std::size_t source, const FrameAccount& run_account) {
  auto& s = sources_[source];
  SourceCut cut;
  cut.source = s.progress.name;
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

void RunControl::new_run(const std::string& name) {
  submitter_.drain();  // what was submitted is booked to the run that ends
  for (auto& source : sources_) {
    source.counts.zero();
    source.progress.frames_in_run.set(0);
    source.progress.numbers_known.set(0);
  }
  submitter_.counts_zeroed();
  batches_at_start_ = pipeline_board_.batches.get();
  RunInfo info;
  info.started_at = clock_.wall();
  info.run = make_run_id(info.started_at, ++runs_);
  info.name = name;
  for (const auto& account : lifetime_accounts()) info.base.push_back(start_of_run(account));
  board_.set_info(std::move(info));
}

std::vector<FrameAccount> RunControl::lifetime_accounts() const {
  std::vector<FrameAccount> accounts;
  for (std::size_t i = 0; i < sources_.size(); ++i)
    accounts.push_back(read_account(receive_[i], sources_[i].progress.counters));
  return accounts;
}

}  // namespace pixhist
