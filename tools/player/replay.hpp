#pragma once
// Sends recordings again, byte for byte.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/player/player_socket.hpp"
#include "tools/player/recording.hpp"

namespace pixhist {

struct ReplaySettings {
  std::string file;
  PlayerSocketSettings socket;
  double rate_hz = 0;       // messages per second; 0: as fast as possible
  std::uint64_t loops = 1;  // 0: until stopped
  std::uint64_t memory =
      1ULL << 30;  // a recording that needs no more is kept in memory, else read anew each time
};

struct ReplayReport {
  std::string file, endpoint;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;    // of all parts
  std::uint64_t refused = 0;  // PUB: not sent because a subscriber's queue was full
  std::uint64_t loops = 0;    // whole ones
  double seconds = 0;
  bool flushed = false;
  bool stopped = false;  // by a signal
};

class Replay {
 public:
  /// Reads the whole file once: nothing is sent of a torn one. Throws RecordingError, PlayerSocketError.
  explicit Replay(ReplaySettings settings);

  PlayerSocket& socket() { return socket_; }

  /// Once. Sends until the last loop or `stop`; the socket is left open for close().
  void play(const std::atomic<bool>& stop);
  ReplayReport close(std::chrono::steady_clock::time_point until);

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t load();
  void play_once(const std::atomic<bool>& stop);
  void play_message(const RecordedMessage& message, bool stays, const std::atomic<bool>& stop);
  bool wait_until_due(const std::atomic<bool>& stop) const;

  ReplaySettings settings_;
  bool kept_ = true;                       // in memory
  std::vector<RecordedMessage> messages_;  // before socket_, which reads from here until it is closed
  PlayerSocket socket_;
  ReplayReport report_;
  std::uint64_t turns_ = 0;  // messages sent or refused
  Clock::time_point start_;
};

}  // namespace pixhist
