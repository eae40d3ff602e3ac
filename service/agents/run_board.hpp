#pragma once
// What the submit thread shows of the run to everyone else: state, run id, baselines of the run account.
// Writer: the submit thread (and main before the threads start). Readers: any thread. The mutex is taken at
// state changes and per status, never per frame.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "core/account/frame_account.hpp"
#include "core/snapshot/cut.hpp"

namespace pixhist {

struct RunInfo {
  std::string run;   // the newest that has begun; empty: it is closed and the next has not begun
  std::string name;  // free text given with `start`
  WallTime started_at;
  std::vector<FrameAccount> base;          // per source, for since()
  std::vector<std::string> run_of_source;  // whose frames its counts are; empty: the next run has not begun
  std::string closing;  // a run that some sources have ended and others have not; else empty
};

class RunBoard {
 public:
  explicit RunBoard(std::size_t sources) {
    info_.base.resize(sources);
    info_.run_of_source.resize(sources);
  }

  /// What everyone is shown. Draining covers running and stopped; a lost device covers all.
  RunState state() const {
    const RunState state = run_state();
    const bool covered = state == RunState::running || state == RunState::stopped;
    return covered && draining_.load(std::memory_order_acquire) ? RunState::draining : state;
  }
  /// The state beneath draining: whether frames are accumulated or discarded{stop}.
  RunState run_state() const { return state_.load(std::memory_order_acquire); }
  void set_state(RunState state) { state_.store(state, std::memory_order_release); }
  /// Main, at shutdown.
  void set_draining() { draining_.store(true, std::memory_order_release); }

  RunInfo info() const {
    const std::lock_guard lock(mutex_);
    return info_;
  }
  void set_info(RunInfo info) {
    const std::lock_guard lock(mutex_);
    info_ = std::move(info);
  }

 private:
  std::atomic<RunState> state_{RunState::starting};
  std::atomic<bool> draining_{false};
  mutable std::mutex mutex_;
  RunInfo info_;
};

/// "20260131T120000Z-0007": start of the run in UTC and the number of the run in this process.
std::string make_run_id(WallTime t, std::uint32_t number);

}  // namespace pixhist
