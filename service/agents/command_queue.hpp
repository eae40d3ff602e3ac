#pragma once
// What other threads ask of the submit thread: a bounded queue of commands, many producers, one consumer.
// First in, first out, with two exceptions: who wants what a waiting read will bring joins it, and smaller
// commands pass large reads that have to wait. In both, nothing passes a command that changes the run, and
// what one client asks stays in order.

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "service/agents/command.hpp"

namespace pixhist {

class CommandQueue {
 public:
  explicit CommandQueue(std::size_t limit) : limit_(limit) {}

  /// False, and the command untouched, while the queue is full.
  bool try_push(Command& command);
  /// Any thread: adds `asker`, with its done, to a read that waits and serves the wish. False, and the asker
  /// untouched, if there is none that it may join. Such a read is taken by try_pop() with all who joined.
  bool try_join(const ReadWish& wish, Asker& asker);

  /// The consumer: the next command; with `large_reads_wait` the next that is not a large read and may pass
  /// those that are.
  std::optional<Command> try_pop(bool large_reads_wait);
  /// Whether try_pop() would give one.
  bool ready(bool large_reads_wait) const;

  bool empty() const { return size() == 0; }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  std::deque<Command>::const_iterator next(bool large_reads_wait) const;

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::deque<Command> queue_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace pixhist
