#pragma once
// A thread is an agent with a step(); tests call it by hand, the runner adds the thread.

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include "core/time/clock.hpp"

namespace pixhist {

class Agent {
 public:
  virtual ~Agent() = default;
  /// Does what can be done now without waiting. True if it did anything.
  virtual bool step() = 0;
  /// Waits until there may be work, at most about 100 ms, so that a beat and a stop are never far.
  virtual void wait() = 0;
};

/// Runs one agent on a named thread (visible in `top -H`, at most 15 characters) until stop() or an
/// exception. The beat is for /healthz: the time of the last step.
class AgentRunner {
 public:
  using OnError = std::function<void(std::exception_ptr)>;

  /// on_error is called on the agent's thread if step() or wait() throws; the thread then ends.
  AgentRunner(std::string name, Agent& agent, const Clock& clock, OnError on_error);
  ~AgentRunner();
  AgentRunner(const AgentRunner&) = delete;  // the thread refers to it
  AgentRunner& operator=(const AgentRunner&) = delete;

  void start();
  /// Asks the thread to end after its current step and joins it. Idempotent.
  void stop();

  const std::string& name() const { return name_; }
  std::chrono::nanoseconds last_beat() const {
    return std::chrono::nanoseconds(beat_.load(std::memory_order_relaxed));
  }

 private:
  void run();

  const std::string name_;
  Agent& agent_;
  const Clock& clock_;
  const OnError on_error_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> beat_{0};
  std::thread thread_;
};

}  // namespace pixhist
