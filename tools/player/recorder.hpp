#pragma once
// Writes a live stream into a recording.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "tools/player/recording.hpp"

namespace pixhist {

struct RecorderSettings {
  std::vector<std::string> endpoints;  // one socket for all, which takes from them in turn
  std::string file;
  bool subscribe = true;  // SUB, else PULL
  bool bind = false;
  bool overwrite = false;
  std::string topic;                      // SUB: only messages that begin with it
  int queue_messages = 100;               // waiting for the file, per endpoint; beyond: PUSH waits, PUB drops
  std::optional<std::uint64_t> messages;  // stop behind so many
  std::optional<std::chrono::duration<double>> duration;
};

struct RecorderReport {
  enum class StoppedBy : std::uint8_t { messages, duration, signal };
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  // of all parts
  double seconds = 0;
  StoppedBy stopped_by = StoppedBy::signal;
};

class Recorder {
 public:
  /// Makes the file and opens the socket. Throws RecordingError, PlayerSocketError.
  explicit Recorder(RecorderSettings settings);

  /// As bound or connected.
  const std::vector<std::string>& endpoints() const { return endpoints_; }

  /// Once. The file is handed to the operating system at least every second, and closed at the end. Holds one
  /// message at a time beside the socket's queue. Throws RecordingError.
  RecorderReport record(const std::atomic<bool>& stop);

 private:
  using Clock = std::chrono::steady_clock;

  bool receive();
  void write(std::vector<zmq::message_t>& parts);
  void flush_if_due();

  RecorderSettings settings_;
  RecordingWriter writer_;
  zmq::context_t context_{1};
  zmq::socket_t socket_;
  std::vector<std::string> endpoints_;
  std::vector<zmq::message_t> parts_;
  RecorderReport report_;
  std::optional<Clock::time_point> flush_at_;  // something has been written since the last flush
};

}  // namespace pixhist
