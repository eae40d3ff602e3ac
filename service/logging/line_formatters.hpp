#pragma once
// How a log record becomes a line. Messages may quote what came over the wire: no byte of theirs can begin a
// new line or break the JSON.

#include <spdlog/formatter.h>

#include <memory>
#include <string>
#include <string_view>

namespace pixhist {

/// `2025-01-31T12:00:00.123Z INFO  [receive-0] message`, UTC.
class TextLineFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override;
  std::unique_ptr<spdlog::formatter> clone() const override;
};

/// `{"time":"2025-01-31T12:00:00.123Z","level":"info","thread":"receive-0","message":"…"}`
class JsonLineFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override;
  std::unique_ptr<spdlog::formatter> clone() const override;
};

/// Control characters as \n, \t, \xNN; a backslash stays as it is.
std::string printable(std::string_view text);

}  // namespace pixhist
