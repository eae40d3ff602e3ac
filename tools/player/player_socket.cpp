#include "tools/player/player_socket.hpp"

#include <algorithm>
#include <limits>
#include <thread>

namespace pixhist {

namespace {

using Kind = PlayerSocketSettings::Kind;

int high_water_mark(const PlayerSocketSettings& settings, std::size_t frame_bytes) {
  const std::uint64_t frames = settings.queue_bytes / std::max<std::size_t>(frame_bytes, 1);
  return static_cast<int>(std::clamp<std::uint64_t>(frames, 1, std::numeric_limits<int>::max()));
}

// A signal may end a wait; the caller looks at its stop flag then.
void poll_uninterrupted(zmq::socket_t& socket, short events, std::chrono::milliseconds time) {
  zmq::pollitem_t item{socket.handle(), 0, events, 0};
  zmq_poll(&item, 1, static_cast<long>(time.count()));
}

}  // namespace

PlayerSocket::PlayerSocket(const PlayerSocketSettings& settings, std::size_t frame_bytes)
    : settings_(settings),
      // XPUB is PUB to its subscribers, and shows us their subscriptions.
      socket_(context_, settings.kind == Kind::push ? zmq::socket_type::push : zmq::socket_type::xpub) {
  socket_.set(zmq::sockopt::sndhwm, high_water_mark(settings, frame_bytes));
  socket_.set(zmq::sockopt::linger, 0);
  // Without it a full queue loses frames without a word, and the final account would be wrong.
  if (settings.kind == Kind::pub) socket_.set(zmq::sockopt::xpub_nodrop, true);
  try {
    if (settings.bind)
      socket_.bind(settings.endpoint);
    else
      socket_.connect(settings.endpoint);
  } catch (const zmq::error_t& error) {
    throw PlayerSocketError(std::string(settings.bind ? "cannot bind " : "cannot connect to ") +
                            settings.endpoint + ": " + error.what() +
                            (settings.bind ? "; is the address this machine's and the port free?"
                                           : "; an endpoint is tcp://host:port or ipc:///path"));
  }
  endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
}

PlayerSocket::~PlayerSocket() {
  // Not closed by close(): an error is on its way, so nothing is waited for (linger is 0).
  socket_.close();
  context_.close();
}

bool PlayerSocket::wait_for_subscriber(const GiveUp& give_up) {
  if (settings_.kind == Kind::push) return true;
  while (!give_up()) {
    poll_uninterrupted(socket_, ZMQ_POLLIN, std::chrono::milliseconds(50));
    zmq::message_t subscription;
    if (zmq_msg_recv(subscription.handle(), socket_.handle(), ZMQ_DONTWAIT) > 0 &&
        *subscription.data<unsigned char>() == 1) {
      return true;
    }
  }
  return false;
}

bool PlayerSocket::try_part(zmq::message_t& part, zmq::send_flags more) {
  const int flags = static_cast<int>(more | zmq::send_flags::dontwait);
  if (zmq_msg_send(part.handle(), socket_.handle(), flags) >= 0) return true;
  const int error = zmq_errno();
  if (error == EAGAIN || error == EINTR) return false;
  throw PlayerSocketError("cannot send to " + endpoint_ + ": " + zmq_strerror(error));
}

void PlayerSocket::wait_for_room() {
  // XPUB always claims to be writable, so polling it would spin.
  if (settings_.kind == Kind::push)
    poll_uninterrupted(socket_, ZMQ_POLLOUT, std::chrono::milliseconds(50));
  else
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Parts are sent as copies (of references, not of bytes): of a PUSH peer that dies between two parts the
// first goes down with it, and the message begins again.
bool PlayerSocket::try_message(std::span<zmq::message_t> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto more = i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    zmq::message_t part;
    part.copy(parts[i]);
    if (try_part(part, more)) continue;
    if (i == 0 || settings_.kind == Kind::push) return false;
    while (!try_part(part, more)) wait_for_room();
  }
  return true;
}

PlayerSocket::Outcome PlayerSocket::send(std::span<zmq::message_t> parts, OnFullQueue on_full,
                                         const GiveUp& give_up) {
  while (!try_message(parts)) {
    if (settings_.kind == Kind::pub && on_full == OnFullQueue::refuse) return Outcome::refused;
    if (give_up()) return Outcome::gave_up;
    wait_for_room();
  }
  return Outcome::sent;
}

bool PlayerSocket::close(std::chrono::steady_clock::time_point until) {
  using std::chrono::milliseconds;
  // ZeroMQ's timers may be over a millisecond or two early: it is given more time, so that one that gave up
  // is never taken for one that was done.
  constexpr milliseconds early(20);
  const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now()) + early;
  const auto linger = std::clamp<milliseconds::rep>(left.count(), 0, std::numeric_limits<int>::max());
  socket_.set(zmq::sockopt::linger, static_cast<int>(linger));
  socket_.close();
  context_.close();
  return std::chrono::steady_clock::now() < until;
}

}  // namespace pixhist
