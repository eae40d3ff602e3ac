#pragma once
// What other threads ask of the submit thread: a bounded queue of commands, many producers, one consumer.

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

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

struct Command {
  CommandKind kind = CommandKind::read;
  bool fresh = false;       // read: a barrier first. All other kinds are barriers anyway.
  bool then_reset = false;  // read: a new run, zeroed, right after the cut
  bool pause = false;       // read: in blocks of rows, filling held, where the device has no room for it all
  /// read: window set, blocks allocated by the asker and zeroed where no source lies (empty block: not
  /// wanted).
  std::shared_ptr<Snapshot> snapshot;
  std::string name;  // start
  /// Called once, on the submit thread: hand the result over and return.
  std::function<void(CommandResult)> done;

  bool changes_run() const { return then_reset || kind != CommandKind::read; }
  bool barrier() const { return fresh || changes_run(); }
};

class CommandQueue {
 public:
  explicit CommandQueue(std::size_t limit) : limit_(limit) {}

  /// False, and the command untouched, while the queue is full.
  bool try_push(Command& command) {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= limit_) return false;
    queue_.push_back(std::move(command));
    size_.store(queue_.size(), std::memory_order_release);
    return true;
  }

  std::optional<Command> try_pop() {
    if (empty()) return std::nullopt;
    const std::lock_guard lock(mutex_);
    Command command = std::move(queue_.front());
    queue_.pop_front();
    size_.store(queue_.size(), std::memory_order_release);
    return command;
  }

  bool empty() const { return size() == 0; }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::deque<Command> queue_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace pixhist
