#pragma once
// The ROUTER socket of the query protocol. Query thread only (made by main before it starts).

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

namespace pixhist {

/// Who asked and how to answer: routing id, envelope parts (echoed as they came), address.
struct QueryClient {
  std::string routing_id;
  std::vector<std::string> envelope;
  bool local = false;  // loopback or ipc
};

struct QueryMessage {
  QueryClient client;
  std::string request;  // empty if `fault` says why there is none
  std::string fault;
};

/// A part of a reply that is not copied: `owner` keeps `bytes` alive until ZeroMQ is done with them, which
/// may be on another thread and only when this socket is used next.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

enum class SendOutcome : std::uint8_t { sent, client_slow, client_gone };

class QuerySocket {
 public:
  /// How long a TCP connection may take nothing of what is to be sent to it: then it is cut, and what was
  /// queued for it is let go.
  static constexpr std::chrono::seconds longest_unread{30};

  /// A client that reads what it asks for and has at most `in_flight_per_client` requests in flight gets
  /// every reply. Throws SocketError naming the endpoint.
  QuerySocket(zmq::context_t& context, const std::string& endpoint, std::uint32_t in_flight_per_client,
              std::chrono::seconds unread = longest_unread);

  std::optional<QueryMessage> receive();
  /// Never waits: a reply that cannot be queued is dropped whole.
  SendOutcome send(const QueryClient& client, const std::string& head, std::span<const SharedBytes> parts);
  /// Waits for a request or for `event_fd` to become readable.
  void wait(int event_fd, std::chrono::milliseconds at_most);
  /// The endpoint as bound (a port given as * is resolved).
  const std::string& endpoint() const { return endpoint_; }

 private:
  zmq::socket_t socket_;
  std::string endpoint_;
};

}  // namespace pixhist
