#include "service/http/health.hpp"

namespace pixhist {

HealthAnswer Health::alive() const {
  if (run_.state() == RunState::device_lost) return {false, "device_lost"};
  // A thread writes its beat while we read the clock: the beat may be the later of the two.
  for (const auto* runner : runners_) {
    const auto silent = clock_.now() - runner->last_beat();
    if (silent > stuck_after)
      return {false, "thread " + runner->name() + " has not moved for " +
                         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silent).count()) +
                         " s"};
  }
  if (device_answers_ && !device_answers_()) return {false, "the device does not answer"};
  return {true, "ok"};
}

HealthAnswer Health::ready() const {
  if (auto answer = alive(); !answer.ok) return answer;
  const RunState state = run_.state();
  return {state == RunState::running || state == RunState::stopped, std::string(name_of(state))};
}

}  // namespace pixhist
