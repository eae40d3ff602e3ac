#pragma once
// A sending socket of the player: PUSH or PUB, bound or connected, sending whole messages or none.
// Owned and used by one thread. Pixels are handed over without a copy, so their memory must outlive close().

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <zmq.hpp>

namespace pixhist {

struct PlayerSocketSettings {
  enum class Kind : std::uint8_t { push, pub };
  Kind kind = Kind::push;
  bool bind = false;
  std::string endpoint = "tcp://127.0.0.1:30001";
  std::uint64_t queue_bytes = 64ULL << 20;  // bound of the send queue per peer; at least one frame
};

/// An endpoint that cannot be had; the message names it.
class PlayerSocketError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PlayerSocket {
 public:
  PlayerSocket(const PlayerSocketSettings& settings, std::size_t frame_bytes);
  ~PlayerSocket();
  PlayerSocket(const PlayerSocket&) = delete;  // owns its context
  PlayerSocket& operator=(const PlayerSocket&) = delete;

  /// The endpoint as bound (a wildcard port resolved) or connected.
  const std::string& endpoint() const { return endpoint_; }

  using GiveUp = std::function<bool()>;  // asked at least every 50 ms while waiting

  /// PUB: waits for a first subscription, since frames sent before it reach nobody. PUSH waits by itself.
  bool wait_for_subscriber(const GiveUp& give_up);

  enum class Outcome : std::uint8_t {
    sent,
    refused,  // PUB: the queue of a subscriber is full; nothing was sent to anyone
    gave_up,  // no peer took it before give_up; nothing was sent
  };
  enum class OnFullQueue : std::uint8_t {
    refuse,  // PUB says refused at once; PUSH waits
    wait,    // PUB waits, too: a lost end mark would hide the loss of frames
  };
  /// One message, whole or not at all. The parts stay the caller's.
  Outcome send(std::span<zmq::message_t> parts, OnFullQueue on_full, const GiveUp& give_up);

  /// Closes, at the latest at `until`. True if the queue had emptied by then: everything was handed to the
  /// operating system (or died with a peer; ZeroMQ tells neither from the other).
  bool close(std::chrono::steady_clock::time_point until);

 private:
  bool try_message(std::span<zmq::message_t> parts);
  bool try_part(zmq::message_t& part, zmq::send_flags more);
  void wait_for_room();

  PlayerSocketSettings settings_;
  zmq::context_t context_{1};
  zmq::socket_t socket_;
  std::string endpoint_;
};

}  // namespace pixhist
