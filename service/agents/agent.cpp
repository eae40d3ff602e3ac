#include "service/agents/agent.hpp"

#include <pthread.h>
#include <sys/prctl.h>

namespace pixhist {
namespace {

constexpr unsigned long timer_slack_ns = 1000;

}  // namespace

AgentRunner::AgentRunner(std::string name, Agent& agent, const Clock& clock, OnError on_error)
    : name_(std::move(name)), agent_(agent), clock_(clock), on_error_(std::move(on_error)) {
  beat_.store(clock_.now().count());
}

AgentRunner::~AgentRunner() { stop(); }

void AgentRunner::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
    // Waits of some 50 µs are meant so; by default the kernel may add as much.
    prctl(PR_SET_TIMERSLACK, timer_slack_ns, 0, 0, 0);
    try {
      run();
    } catch (...) {
      on_error_(std::current_exception());
    }
  });
}

void AgentRunner::stop() {
  stopping_.store(true);
  if (thread_.joinable()) thread_.join();
}

void AgentRunner::run() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    beat_.store(clock_.now().count(), std::memory_order_relaxed);
    if (!agent_.step()) agent_.wait();
  }
}

}  // namespace pixhist
