#pragma once
// What other threads ask of the submit thread, and what they get.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/snapshot.hpp"

namespace pixhist {

/// read: fill a snapshot. reset, start, stop: run control.
enum class CommandKind : std::uint8_t { read, reset, start, stop };

struct CommandResult {
  bool device_lost = false;              // nothing was done
  std::optional<std::string> no_memory;  // read: the device has no room for it; nothing was done
  bool changed = true;                   // start while running, stop while stopped: false
  Cut cut;                               // the cut of the read, or the last cut of the run that ended
  SnapshotPtr snapshot;                  // read
  std::string run;                       // after the command
  RunState state = RunState::running;
};

/// Who waits for a command.
struct Asker {
  /// The same for all that one client asks, to keep it in order.
  std::string client;
  /// Called once, on the submit thread: take the result over and return.
  std::function<void(CommandResult)> done;
};

/// What a read is to bring; it serves everybody who wants the same.
struct ReadWish {
  SnapshotWindow window;
  std::optional<ReductionKind> reduction;
  bool flow = false;
  bool fresh = false;  // a barrier first
  bool pause = false;  // in blocks of rows, filling held, where the device has no room for it all
};

struct Command {
  CommandKind kind = CommandKind::read;
  bool fresh = false;       // read: as in ReadWish
  bool pause = false;       // read: as in ReadWish
  bool then_reset = false;  // read: a new run, zeroed, right after the cut
  /// read: window set, blocks allocated by the asker and zeroed where no source lies (empty block: not
  /// wanted).
  std::shared_ptr<Snapshot> snapshot;
  std::string name;  // start
  std::vector<Asker> askers;

  /// A read of more bytes keeps the way from the device to the host busy for longer than a small one may
  /// wait: at 50 GB/s a third of a millisecond.
  static constexpr std::size_t largest_small_read = std::size_t{16} << 20;

  /// What was received before it is counted before it.
  bool barrier() const { return fresh || changes_run(); }
  /// Reads before and after it are of different runs.
  bool changes_run() const { return then_reset || kind != CommandKind::read; }
  bool is_large_read() const {
    return snapshot != nullptr && snapshot->counts.size() + snapshot->reduced.size() > largest_small_read;
  }
  /// A read that changes nothing, and brings all that is wished and is a barrier just as wished.
  bool serves(const ReadWish& wish) const;
  bool asked_by(const std::string& client) const;
  /// Hands the result to everybody who waits. They wait no longer.
  void answer(CommandResult result);
};

}  // namespace pixhist
