#pragma once
// The options of a sending socket, for the simulated detector and for replays alike.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/player/player_socket.hpp"

namespace pixhist {

struct SenderOptions {
  std::optional<std::string> socket;
  std::vector<std::string> bind, connect;
  std::uint64_t queue_bytes = PlayerSocketSettings{}.queue_bytes;
  std::int64_t linger_ms = 10'000;
  double wait_subscriber_s = 0;

  /// `endpoint` of the result is left as it is.
  PlayerSocketSettings settings(bool pub_by_default) const;
  std::vector<std::string> endpoints() const;
  std::chrono::milliseconds linger() const { return std::chrono::milliseconds(linger_ms); }
  std::optional<std::chrono::milliseconds> wait_subscriber() const;
};

void add_sender_options(CLI::App& app, SenderOptions& options);

}  // namespace pixhist
