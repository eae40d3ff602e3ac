#include "service/agents/command.hpp"

#include <algorithm>
#include <utility>

namespace pixhist {

bool Command::serves(const ReadWish& wish) const {
  return !changes_run() && fresh == wish.fresh && pause == wish.pause && snapshot->window == wish.window &&
         snapshot->reduction == wish.reduction && (!wish.flow || snapshot->flow.size() != 0);
}

bool Command::asked_by(const std::string& client) const {
  return std::any_of(askers.begin(), askers.end(), [&](const Asker& a) { return a.client == client; });
}

void Command::answer(CommandResult result) {
  auto waiting = std::exchange(askers, {});
  if (waiting.empty()) return;
  const Asker last = std::move(waiting.back());
  waiting.pop_back();
  for (const auto& asker : waiting) asker.done(result);
  last.done(std::move(result));  // nothing stays here, so that it is not this thread that gives memory back
}

}  // namespace pixhist
