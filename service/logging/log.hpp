#pragma once
// The log of the process: to stderr, and to a file besides if log.file is set. Text or JSON lines.
// A logger may be used by any thread. Nothing is logged per frame; what repeats goes through RateLimitedLog.
// Include <spdlog/spdlog.h> where lines are written; this header keeps it out of the others.

#include <memory>
#include <stdexcept>
#include <string>

#include "service/config/config.hpp"

namespace spdlog {
class logger;
}

namespace pixhist {

/// log.file cannot be opened. Exit code 5.
class LogFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Lines are written out at once. Throws LogFileError.
std::shared_ptr<spdlog::logger> make_logger(const Config& config);

/// SIGHUP: opens the log file anew (after rotation). If that fails the old one is kept and the error logged.
/// Not for use inside a signal handler.
void reopen_logs(spdlog::logger& logger);

}  // namespace pixhist
