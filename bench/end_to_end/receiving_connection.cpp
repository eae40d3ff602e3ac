#include "bench/end_to_end/receiving_connection.hpp"

#include <pthread.h>

#include <chrono>
#include <utility>

namespace pixhist::bench {
namespace {

constexpr auto stop_wait = std::chrono::milliseconds(100);

}  // namespace

ReceivingConnection::ReceivingConnection(zmq::context_t& context, const SourceConfig& source,
                                         ConnectionOptions options)
    : options_(std::move(options)),
      socket_(context, source.socket == SocketKind::sub ? zmq::socket_type::sub : zmq::socket_type::pull) {
  socket_.set(zmq::sockopt::rcvhwm, options_.hwm);
  socket_.set(zmq::sockopt::affinity, options_.io_threads);
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(stop_wait.count()));
  if (source.socket == SocketKind::sub) socket_.set(zmq::sockopt::subscribe, "");
  if (source.bind)
    socket_.bind(options_.endpoint);
  else
    socket_.connect(options_.endpoint);
  endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
}

ReceivingConnection::~ReceivingConnection() {
  stopping_.store(true);
  if (thread_.joinable()) thread_.join();
}

void ReceivingConnection::start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { receive(); });
}

void ReceivingConnection::add_to(Received& received, bool frames) const {
  received.others += others_.get();
  if (!frames) return;
  received.frames += frames_.get();
  received.bytes += frames_.get() * options_.frame_bytes;
  times_.add_to(received);
}

void ReceivingConnection::receive() {
  pthread_setname_np(pthread_self(), "recv");
  zmq::message_t header;
  zmq::message_t body;
  while (!stopping()) {
    if (!socket_.recv(header)) continue;
    bool frame = false;
    // The parts of a message come together.
    for (zmq::message_t* part = &header; part->more(); part = &body) {
      if (!socket_.recv(body)) return;
      frame = body.size() == options_.frame_bytes;
    }
    if (!frame) {
      others_.add();
    } else if (take_(body)) {
      frames_.add();
      times_.note(steady_ns());
    }
  }
}

}  // namespace pixhist::bench
