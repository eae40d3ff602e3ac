#pragma once
// Watches the connections of one data socket. ZeroMQ reconnects by itself after a network error, but not
// after a protocol error (a message part above the limit): the socket would stay deaf for good, in silence.
// Used by the receive thread; the counters are read by any.

#include <chrono>
#include <optional>
#include <zmq.hpp>

#include "core/account/frame_account.hpp"

namespace pixhist {

struct SocketEventCounters {
  SingleWriterCounter connected;  // also: accepted
  SingleWriterCounter disconnected;
  SingleWriterCounter handshake_failed;
  SingleWriterCounter reconnect_forced;
};

class ConnectionWatch {
 public:
  /// A connection that is cut and not being made again after this long was cut for good.
  static constexpr auto patience = std::chrono::seconds(1);

  /// Before the socket is connected or bound.
  ConnectionWatch(zmq::context_t& context, zmq::socket_t& socket, SocketEventCounters& counters);

  /// Takes note of what has happened. ZeroMQ's I/O thread stops at some 2000 events that nobody has taken.
  void take_note(std::chrono::steady_clock::time_point now);
  /// Takes note, too. True once if the connection was cut for good: of a socket that connects
  /// it is to be made again, of one that binds a sender has left.
  bool cut_for_good(std::chrono::steady_clock::time_point now);

 private:
  void note(std::uint16_t event, std::chrono::steady_clock::time_point now);

  zmq::socket_t events_;
  SocketEventCounters& counters_;
  std::optional<std::chrono::steady_clock::time_point> cut_at_;
};

}  // namespace pixhist
