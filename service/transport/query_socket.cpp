#include "service/transport/query_socket.hpp"

#include <algorithm>
#include <atomic>

#include "proto/query/envelope.hpp"
#include "service/transport/socket_error.hpp"

namespace pixhist {
namespace {

/// Larger requests cost the client its connection; above 64 KiB they are answered request_too_large.
constexpr std::int64_t max_message_bytes = 16LL << 20;
/// Replies queued per client; one that never reads keeps this many alive. ZeroMQ tells of places that became
/// free only after half of them have, so twice as many are needed as shall always be there.
int replies_per_client(std::uint32_t in_flight) { return static_cast<int>(2 * in_flight); }
/// More parts than any envelope has.
constexpr std::size_t max_parts = 16;

bool is_local(const zmq::message_t& message) {
  const char* address = zmq_msg_gets(const_cast<zmq_msg_t*>(message.handle()), "Peer-Address");
  if (address == nullptr || *address == '\0') return true;  // ipc has no address
  const std::string peer(address);
  return peer.starts_with("127.") || peer == "::1" || peer.starts_with("::ffff:127.");
}

/// What a message in ZeroMQ's hands keeps alive. `lent` orders its making before its end on another thread
/// for ThreadSanitizer too, which sees no order through ZeroMQ.
struct LentBytes {
  std::shared_ptr<const void> owner;
  std::atomic<bool> lent{false};
};

void give_back(void*, void* hint) {
  auto* const bytes = static_cast<LentBytes*>(hint);
  if (bytes->lent.load(std::memory_order_acquire)) delete bytes;
}

zmq::message_t share(const SharedBytes& part) {
  auto bytes = std::make_unique<LentBytes>();
  bytes->owner = part.owner;
  bytes->lent.store(true, std::memory_order_release);
  // ZeroMQ never writes into a message it sends, so the const of the bytes is safe.
  return {const_cast<std::byte*>(part.bytes.data()), part.bytes.size(), give_back, bytes.release()};
}

}  // namespace

QuerySocket::QuerySocket(zmq::context_t& context, const std::string& endpoint,
                         std::uint32_t in_flight_per_client, std::chrono::seconds unread)
    : socket_(context, zmq::socket_type::router) {
  socket_.set(zmq::sockopt::router_mandatory, true);
  socket_.set(zmq::sockopt::router_handover, false);
  socket_.set(zmq::sockopt::sndhwm, replies_per_client(in_flight_per_client));
  socket_.set(zmq::sockopt::maxmsgsize, max_message_bytes);
  // ZeroMQ itself waits for ever on a peer that takes nothing. The limit covers lost hosts and closed
  // windows; probes find a lost host to which nothing is to be sent. Not ZeroMQ's heartbeats: they have cut
  // connections that were at work on one long message.
  const auto seconds = static_cast<int>(unread.count());
  socket_.set(zmq::sockopt::tcp_maxrt, 1000 * seconds);
  socket_.set(zmq::sockopt::tcp_keepalive, 1);
  socket_.set(zmq::sockopt::tcp_keepalive_idle, seconds);
  socket_.set(zmq::sockopt::tcp_keepalive_intvl, std::max(1, seconds / 3));
  socket_.set(zmq::sockopt::linger, 500);  // ms, for the last answers at shutdown
  socket_.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  try {
    socket_.bind(endpoint);
  } catch (const zmq::error_t& e) {
    throw SocketError("query.endpoint: cannot bind " + endpoint + ": " + e.what());
  }
  endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
}

std::optional<QueryMessage> QuerySocket::receive() {
  std::vector<zmq::message_t> messages;
  std::size_t surplus = 0;
  for (bool more = true; more;) {
    zmq::message_t part;
    if (!socket_.recv(part, zmq::recv_flags::dontwait)) return std::nullopt;
    more = part.more();
    if (messages.size() < max_parts)
      messages.push_back(std::move(part));
    else
      ++surplus;
  }

  QueryMessage query;
  query.client.routing_id = messages.front().to_string();
  query.client.local = is_local(messages.back());
  std::vector<std::span<const std::byte>> parts;
  for (std::size_t i = 1; i < messages.size(); ++i)
    parts.emplace_back(static_cast<const std::byte*>(messages[i].data()), messages[i].size());
  const Envelope envelope = split_envelope(parts);
  for (std::size_t i = 0; i < envelope.parts; ++i)
    query.client.envelope.push_back(messages[1 + i].to_string());
  if (surplus != 0)
    query.fault = "the message has more than " + std::to_string(max_parts) + " parts";
  else if (!envelope.request)
    query.fault = envelope.fault;
  else
    query.request = messages[1 + *envelope.request].to_string();
  return query;
}

SendOutcome QuerySocket::send(const QueryClient& client, const std::string& head,
                              std::span<const SharedBytes> parts) {
  constexpr auto more = zmq::send_flags::dontwait | zmq::send_flags::sndmore;
  try {
    // With ROUTER_MANDATORY the first part decides: the rest of the message follows it or nothing does.
    if (!socket_.send(zmq::buffer(client.routing_id), more)) {
      // ZeroMQ may not have looked for a while at what the client has read; asked for its events, it does.
      [[maybe_unused]] const int events = socket_.get(zmq::sockopt::events);
      if (!socket_.send(zmq::buffer(client.routing_id), more)) return SendOutcome::client_slow;
    }
    for (const auto& part : client.envelope) socket_.send(zmq::buffer(part), more);
    socket_.send(zmq::buffer(head), parts.empty() ? zmq::send_flags::dontwait : more);
    for (std::size_t i = 0; i < parts.size(); ++i)
      socket_.send(share(parts[i]), i + 1 == parts.size() ? zmq::send_flags::dontwait : more);
  } catch (const zmq::error_t& e) {
    if (e.num() == EHOSTUNREACH) return SendOutcome::client_gone;
    throw;
  }
  return SendOutcome::sent;
}

void QuerySocket::wait(int event_fd, std::chrono::milliseconds at_most) {
  zmq::pollitem_t items[] = {{socket_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, event_fd, ZMQ_POLLIN, 0}};
  zmq::poll(items, 2, at_most);
}

}  // namespace pixhist
