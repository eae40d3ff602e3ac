#pragma once
// A SUB or PULL socket that receives frames. Used by one receive thread; made by main before it starts.

#include <functional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "service/config/config.hpp"
#include "service/transport/connection_watch.hpp"
#include "service/transport/message_source.hpp"

namespace pixhist {

struct IngestSocketOptions {
  SocketKind kind = SocketKind::sub;
  bool bind = false;
  std::string endpoint;
  std::string topic;               // not empty: subscribed, and the first part is stripped
  std::size_t max_part_bytes = 0;  // a larger part costs the sender its connection
  int receive_hwm = 1000;          // messages queued per connection
  std::size_t max_parts = 2;       // of a legal message
  std::uint64_t io_threads = 0;    // of ZeroMQ that may serve its connections, a bit each; 0: all
  /// Called on the receive thread when a connection was cut for good and has been made again.
  std::function<void(const std::string&)> on_cut;
};

class IngestSocket final : public MessageSource {
 public:
  /// Throws SocketError naming the endpoint.
  IngestSocket(zmq::context_t& context, const IngestSocketOptions& options, SocketEventCounters& events);

  std::optional<ReceivedMessage> receive() override;
  void wait(std::chrono::milliseconds at_most) override;
  /// What happens to connections must be taken note of: ZeroMQ's I/O thread waits for it when much has, and
  /// other sockets are served by the same thread.
  void attend() override;
  /// As bound (a port given as * is resolved) or connected.
  const std::string& endpoint() const;

 private:
  void watch_connection();

  const IngestSocketOptions options_;
  zmq::socket_t socket_;
  SocketEventCounters& events_;
  ConnectionWatch watch_;
  std::string bound_endpoint_;
  std::vector<zmq::message_t> messages_;  // reused, one per part that is kept
  std::vector<MessagePart> parts_;
  zmq::message_t surplus_;
};

/// Messages a socket may queue per connection so that they hold about `budget` bytes; at least 2, at most
/// what ZeroMQ uses by default.
int receive_hwm(std::uint64_t budget, std::uint64_t frame_bytes);

}  // namespace pixhist
