#pragma once
// Is the process able to make progress, and is it ready? An idle detector is healthy; loss is an alert, not a
// health state. Any thread may ask.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "service/agents/agent.hpp"
#include "service/agents/run_board.hpp"

namespace pixhist {

struct HealthAnswer {
  bool ok = false;
  std::string text;  // one line for people
};

class Health {
 public:
  /// A thread that has not begun a step for this long is stuck. Longer than any batch or snapshot takes.
  static constexpr auto stuck_after = std::chrono::seconds(20);

  Health(const Clock& clock, const RunBoard& run) : clock_(clock), run_(run) {}
  /// Before the HTTP server starts.
  void watch(const AgentRunner& runner) { runners_.push_back(&runner); }
  /// A cheap call that is true while the device answers; made on the asking thread.
  void watch_device(std::function<bool()> answers) { device_answers_ = std::move(answers); }

  /// Liveness: every thread beats and the device answers.
  HealthAnswer alive() const;
  /// Readiness: alive, and running or stopped.
  HealthAnswer ready() const;

 private:
  const Clock& clock_;
  const RunBoard& run_;
  std::vector<const AgentRunner*> runners_;
  std::function<bool()> device_answers_;
};

}  // namespace pixhist
