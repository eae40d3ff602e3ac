#pragma once
// libzmq alone: one socket and the thread that reads it, for the receivers that the service is measured
// against.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "bench/end_to_end/receiver_program.hpp"
#include "core/account/frame_account.hpp"
#include "service/config/config.hpp"

namespace pixhist::bench {

struct ConnectionOptions {
  std::string endpoint;
  int hwm = 0;                   // messages
  std::uint64_t io_threads = 0;  // ZMQ_AFFINITY
  std::size_t frame_bytes = 0;   // a message whose last part is as long is a frame
};

/// Everything but start() from any thread.
class ReceivingConnection {
 public:
  /// What becomes of a frame's body; true: it counts. May wait for room while stopping() is false.
  using Take = std::function<bool(zmq::message_t& body)>;

  /// Binds or connects as `source` says.
  ReceivingConnection(zmq::context_t& context, const SourceConfig& source, ConnectionOptions options);
  ReceivingConnection(const ReceivingConnection&) = delete;  // its thread refers to it
  ~ReceivingConnection();

  void start(Take take);
  bool stopping() const { return stopping_.load(std::memory_order_relaxed); }
  const std::string& endpoint() const { return endpoint_; }
  /// Frames, bytes and their times only if `frames`: they may count elsewhere.
  void add_to(Received& received, bool frames = true) const;

 private:
  void receive();

  const ConnectionOptions options_;
  zmq::socket_t socket_;
  Take take_;
  std::string endpoint_;
  SingleWriterCounter frames_, others_;
  FrameTimes times_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pixhist::bench
