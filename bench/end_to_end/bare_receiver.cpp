// bench_bare_receiver: libzmq and a memcpy, nothing else. One thread a connection receives, and copies each
// body into the same buffer again and again.

#include <cstring>
#include <memory>
#include <vector>
#include <zmq.hpp>

#include "bench/end_to_end/receiving_connection.hpp"
#include "service/config/memory_plan.hpp"
#include "service/ingest_parts.hpp"

using namespace pixhist;
using namespace pixhist::bench;

namespace {

void receive(const Config& config) {
  Readiness ready;
  ReceiveMemory memory(config);
  ready.device_seconds = memory.device_seconds();
  ready.memory = memory.host().kind() == MemoryKind::pinned ? "pinned" : "host";
  zmq::context_t context(io_threads(config));
  std::vector<HostBlock> buffers;
  std::vector<std::unique_ptr<ReceivingConnection>> connections;
  for (const auto& source : config.sources) {
    const ExpectedFrame frame{source.shape, config.pixel_type};
    for (const auto& endpoint : source.endpoints) {
      const auto begin = steady_ns();
      buffers.push_back(memory.host().allocate(frame.bytes(), Paging::populate));
      ready.memory_seconds += 1e-9 * static_cast<double>(steady_ns() - begin);
      ready.memory_bytes += frame.bytes();
      connections.push_back(std::make_unique<ReceivingConnection>(
          context, source,
          ConnectionOptions{endpoint, receive_hwm(config.rcvhwm_bytes, frame.bytes()),
                            io_affinity(connections.size(), io_threads(config)), frame.bytes()}));
      ready.endpoints.push_back(connections.back()->endpoint());
    }
  }
  for (std::size_t i = 0; i < connections.size(); ++i)
    connections[i]->start([to = buffers[i].data()](zmq::message_t& body) {
      std::memcpy(to, body.data(), body.size());
      return true;
    });
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
