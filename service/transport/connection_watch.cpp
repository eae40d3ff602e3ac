#include "service/transport/connection_watch.hpp"

#include <atomic>
#include <cstring>
#include <string>

namespace pixhist {
namespace {

constexpr int watched = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECT_DELAYED |
                        ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

/// Names of monitor endpoints are unique in the process.
std::string next_endpoint() {
  static std::atomic<unsigned> made{0};
  return "inproc://connection-watch-" + std::to_string(made.fetch_add(1));
}

}  // namespace

ConnectionWatch::ConnectionWatch(zmq::context_t& context, zmq::socket_t& socket,
                                 SocketEventCounters& counters)
    : events_(context, zmq::socket_type::pair), counters_(counters) {
  const std::string endpoint = next_endpoint();
  if (zmq_socket_monitor(socket.handle(), endpoint.c_str(), watched) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.connect(endpoint);
}

void ConnectionWatch::take_note(std::chrono::steady_clock::time_point now) {
  zmq::message_t event;
  zmq::message_t address;
  while (events_.recv(event, zmq::recv_flags::dontwait)) {
    if (event.more() && !events_.recv(address, zmq::recv_flags::dontwait)) break;
    std::uint16_t code = 0;
    if (event.size() >= sizeof code) std::memcpy(&code, event.data(), sizeof code);
    note(code, now);
  }
}

bool ConnectionWatch::cut_for_good(std::chrono::steady_clock::time_point now) {
  take_note(now);
  if (!cut_at_ || now - *cut_at_ < patience) return false;
  cut_at_.reset();
  return true;
}

void ConnectionWatch::note(std::uint16_t event, std::chrono::steady_clock::time_point now) {
  switch (event) {
    case ZMQ_EVENT_CONNECTED:
    case ZMQ_EVENT_ACCEPTED: counters_.connected.add(); break;
    case ZMQ_EVENT_DISCONNECTED: counters_.disconnected.add(); break;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: counters_.handshake_failed.add(); break;
    default: break;
  }
  // Whatever follows a cut shows that ZeroMQ is at it itself.
  if (event == ZMQ_EVENT_DISCONNECTED)
    cut_at_ = now;
  else
    cut_at_.reset();
}

}  // namespace pixhist
