#include "service/agents/command_queue.hpp"

#include <algorithm>
#include <utility>

namespace pixhist {

bool CommandQueue::try_push(Command& command) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= limit_) return false;
  queue_.push_back(std::move(command));
  size_.store(queue_.size(), std::memory_order_release);
  return true;
}

bool CommandQueue::try_join(const ReadWish& wish, Asker& asker) {
  const std::lock_guard lock(mutex_);
  for (auto command = queue_.rbegin(); command != queue_.rend() && !command->changes_run(); ++command) {
    if (command->serves(wish)) {
      command->askers.push_back(std::move(asker));
      return true;
    }
    // Joined before this one, the client would get an earlier cut for what it asked later.
    if (command->asked_by(asker.client)) return false;
  }
  return false;
}

std::optional<Command> CommandQueue::try_pop(bool large_reads_wait) {
  if (empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = next(large_reads_wait);
  if (found == queue_.end()) return std::nullopt;
  const auto place = queue_.begin() + (found - queue_.cbegin());
  Command command = std::move(*place);
  queue_.erase(place);
  size_.store(queue_.size(), std::memory_order_release);
  return command;
}

bool CommandQueue::ready(bool large_reads_wait) const {
  if (empty()) return false;
  const std::lock_guard lock(mutex_);
  return next(large_reads_wait) != queue_.end();
}

std::deque<Command>::const_iterator CommandQueue::next(bool large_reads_wait) const {
  for (auto command = queue_.begin(); command != queue_.end(); ++command) {
    const bool waits = large_reads_wait && command->is_large_read();
    const auto same_client = [&command](const Command& passed) {
      return std::any_of(command->askers.begin(), command->askers.end(),
                         [&](const Asker& asker) { return passed.asked_by(asker.client); });
    };
    if (command->changes_run()) return command == queue_.begin() && !waits ? command : queue_.end();
    if (!waits && std::none_of(queue_.begin(), command, same_client)) return command;
  }
  return queue_.end();
}

}  // namespace pixhist
