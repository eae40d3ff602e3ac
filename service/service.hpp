#pragma once
// The process: makes everything, starts the threads in order, stops them in reverse. The only place where the
// parts are put together. Used by main (one thread); the threads it starts see only their parts.

#include <functional>
#include <memory>

#include "core/snapshot/cut.hpp"
#include "service/config/config.hpp"

namespace spdlog {
class logger;
}

namespace pixhist {

enum class ExitCode : int { done = 0, cut_short = 1, configuration = 2, device = 3, socket = 4, disk = 5 };

class Service {
 public:
  /// Chooses the device and takes all memory. Throws DeviceMissing, std::bad_alloc.
  Service(Config config, std::shared_ptr<spdlog::logger> logger);
  ~Service();
  Service(const Service&) = delete;  // threads refer to it
  Service& operator=(const Service&) = delete;

  /// Opens sockets and listeners, starts the threads. Throws SocketError.
  void start();

  /// To be called about twice a second while it runs: rates, repeated log lines, idle memory.
  void tick();

  /// Set when a thread has failed: the process is to stop with this code.
  std::optional<ExitCode> failure() const;

  /// Drains: receive what senders have handed over, accumulate it, answer what was asked. `cut_short` is
  /// asked often; true (a second signal) ends the drain at once. Returns the exit code; logs the final
  /// account.
  ExitCode stop(const std::function<bool()>& cut_short);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace pixhist
