// bench_bare_receiver: libzmq and a memcpy, nothing else. One thread a connection receives, and copies each
// body into the same buffer again and again.

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "bench/end_to_end/receiver_program.hpp"
#include "core/account/frame_account.hpp"
#include "service/config/memory_plan.hpp"
#include "service/ingest_parts.hpp"

using namespace pixhist;
using namespace pixhist::bench;

namespace {

constexpr auto stop_wait = std::chrono::milliseconds(100);

class Connection {
 public:
  Connection(zmq::context_t& context, const SourceConfig& source, const std::string& endpoint, int hwm,
             std::uint64_t io_threads, HostBlock buffer, std::size_t frame_bytes)
      : socket_(context, source.socket == SocketKind::sub ? zmq::socket_type::sub : zmq::socket_type::pull),
        buffer_(std::move(buffer)),
        frame_bytes_(frame_bytes) {
    socket_.set(zmq::sockopt::rcvhwm, hwm);
    socket_.set(zmq::sockopt::affinity, io_threads);
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, static_cast<int>(stop_wait.count()));
    if (source.socket == SocketKind::sub) socket_.set(zmq::sockopt::subscribe, "");
    if (source.bind)
      socket_.bind(endpoint);
    else
      socket_.connect(endpoint);
    endpoint_ = socket_.get(zmq::sockopt::last_endpoint);
  }
  Connection(const Connection&) = delete;  // its thread refers to it
  ~Connection() {
    stopping_.store(true);
    if (thread_.joinable()) thread_.join();
  }

  void start() {
    thread_ = std::thread([this] { receive(); });
  }
  const std::string& endpoint() const { return endpoint_; }
  void add_to(Received& received) const {
    received.frames += frames_.get();
    received.bytes += frames_.get() * frame_bytes_;
    received.others += others_.get();
    times_.add_to(received);
  }

 private:
  void receive() {
    pthread_setname_np(pthread_self(), "recv");
    zmq::message_t header;
    zmq::message_t body;
    while (!stopping_.load(std::memory_order_relaxed)) {
      if (!socket_.recv(header)) continue;
      bool frame = false;
      // The parts of a message come together.
      for (zmq::message_t* part = &header; part->more(); part = &body) {
        if (!socket_.recv(body)) return;
        frame = body.size() == frame_bytes_;
      }
      if (frame) {
        std::memcpy(buffer_.data(), body.data(), frame_bytes_);
        frames_.add();
        times_.note(steady_ns());
      } else {
        others_.add();
      }
    }
  }

  zmq::socket_t socket_;
  HostBlock buffer_;
  const std::size_t frame_bytes_;
  std::string endpoint_;
  SingleWriterCounter frames_, others_;
  FrameTimes times_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

void receive(const Config& config) {
  Readiness ready;
  ReceiveMemory memory(config);
  ready.device_seconds = memory.device_seconds();
  ready.memory = memory.host().kind() == MemoryKind::pinned ? "pinned" : "host";
  zmq::context_t context(io_threads(config));
  std::vector<std::unique_ptr<Connection>> connections;
  for (const auto& source : config.sources) {
    const ExpectedFrame frame{source.shape, config.pixel_type};
    for (const auto& endpoint : source.endpoints) {
      const auto begin = steady_ns();
      auto buffer = memory.host().allocate(frame.bytes(), Paging::populate);
      ready.memory_seconds += 1e-9 * static_cast<double>(steady_ns() - begin);
      ready.memory_bytes += frame.bytes();
      connections.push_back(std::make_unique<Connection>(
          context, source, endpoint, receive_hwm(config.rcvhwm_bytes, frame.bytes()),
          io_affinity(connections.size(), io_threads(config)), std::move(buffer), frame.bytes()));
      ready.endpoints.push_back(connections.back()->endpoint());
    }
  }
  for (auto& connection : connections) connection->start();
  answer_reports(ready, [&] {
    Received received;
    for (const auto& connection : connections) connection->add_to(received);
    return received;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return run_receiver(
      argc, argv,
      "Bare libzmq with pixhistd's configuration: one thread a connection, one copy of each body.", receive);
}
