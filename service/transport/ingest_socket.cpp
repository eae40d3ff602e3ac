#include "service/transport/ingest_socket.hpp"

#include <algorithm>

#include "service/transport/socket_error.hpp"

namespace pixhist {

int receive_hwm(std::uint64_t budget, std::uint64_t frame_bytes) {
  constexpr std::uint64_t zeromq_default = 1000;
  return static_cast<int>(
      std::clamp<std::uint64_t>(budget / std::max<std::uint64_t>(frame_bytes, 1), 2, zeromq_default));
}

IngestSocket::IngestSocket(zmq::context_t& context, const IngestSocketOptions& options,
                           SocketEventCounters& events)
    : options_(options),
      socket_(context, options.kind == SocketKind::sub ? zmq::socket_type::sub : zmq::socket_type::pull),
      events_(events),
      watch_(context, socket_, events),
      messages_(options.max_parts + (options.topic.empty() ? 0 : 1)) {
  // The high-water mark only counts for connections made after it is set.
  socket_.set(zmq::sockopt::rcvhwm, options_.receive_hwm);
  socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(options_.max_part_bytes));
  socket_.set(zmq::sockopt::affinity, options_.io_threads);
  socket_.set(zmq::sockopt::linger, 0);
  // Only where it is asked for: an IPv6 socket writes IPv4 addresses as [::ffff:…].
  socket_.set(zmq::sockopt::ipv6, options_.endpoint.find('[') != std::string::npos);
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, 60);
  if (options_.kind == SocketKind::sub) socket_.set(zmq::sockopt::subscribe, options_.topic);
  try {
    if (options_.bind) {
      socket_.bind(options_.endpoint);
      bound_endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
    } else {
      socket_.connect(options_.endpoint);
    }
  } catch (const zmq::error_t& e) {
    throw SocketError(std::string("data socket: cannot ") + (options_.bind ? "bind " : "connect ") +
                      options_.endpoint + ": " + e.what());
  }
}

std::optional<ReceivedMessage> IngestSocket::receive() {
  ReceivedMessage message;
  parts_.clear();
  std::size_t index = 0;
  bool more = true;
  while (more) {
    zmq::message_t& part = index < messages_.size() ? messages_[index] : surplus_;
    // Only the first part can be missing: ZeroMQ delivers a message whole.
    if (!socket_.recv(part, zmq::recv_flags::dontwait)) {
      watch_connection();
      return std::nullopt;
    }
    message.bytes += part.size();
    more = part.more();
    const bool topic = index == 0 && !options_.topic.empty();
    if (!topic && parts_.size() <= options_.max_parts) {
      // Of what is too many only the fact is kept: one empty part.
      if (index < messages_.size())
        parts_.push_back({static_cast<const std::byte*>(part.data()), part.size()});
      else
        parts_.push_back({});
    }
    ++index;
  }
  message.parts = parts_;
  return message;
}

/// Called when nothing is queued, so that making the connection anew loses nothing that was received.
void IngestSocket::watch_connection() {
  if (!watch_.cut_for_good(std::chrono::steady_clock::now()) || options_.bind) return;
  // Of a connection that ZeroMQ has given up the endpoint may be gone already.
  zmq_disconnect(socket_.handle(), options_.endpoint.c_str());
  socket_.connect(options_.endpoint);
  events_.reconnect_forced.add();
  if (options_.on_cut)
    options_.on_cut("the connection to " + options_.endpoint +
                    " was cut by a protocol error and has been made again; "
                    "what the sender had queued is lost. Parts of more than " +
                    std::to_string(options_.max_part_bytes) +
                    " bytes are not taken: does the detector send larger frames than configured?");
}

void IngestSocket::wait(std::chrono::milliseconds at_most) {
  zmq::pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
  zmq::poll(&item, 1, at_most);
}

void IngestSocket::attend() { watch_.take_note(std::chrono::steady_clock::now()); }

const std::string& IngestSocket::endpoint() const {
  return bound_endpoint_.empty() ? options_.endpoint : bound_endpoint_;
}

}  // namespace pixhist
