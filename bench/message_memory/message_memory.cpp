// bench_message_memory: where the bodies of messages come to lie, and what that costs. Receives with libzmq
// as the bare receiver does. --way buffer copies each body into one buffer, over and over, from one frame's
// size to more than the caches hold. --way ring copies it into a ring, out of which batches are taken, as the
// service does. --way pool copies nothing: libzmq allocates its bodies in memory that the device can read,
// and a message is closed when the batch that it is in is done with.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>
#include <zmq.hpp>

#include "bench/end_to_end/receiving_connection.hpp"
#include "bench/message_memory/batch_consumer.hpp"
#include "bench/message_memory/message_pool.hpp"
#include "service/config/memory_plan.hpp"
#include "service/ingest_parts.hpp"

using namespace pixhist;
using namespace pixhist::bench;

namespace {

constexpr auto room_wait = std::chrono::milliseconds(10);  // a release wakes us sooner

struct Options {
  std::string way = "ring";
  std::uint64_t buffer_bytes = 0;  // 0: one frame
  std::string stores = "cached";
  std::string device = "none";
  int io_threads = 0;  // 0: as many as the service has
};

/// Waits while the lane is full; false: the connection stops. `doorbell`: of the thread that takes from the
/// lane, if any.
bool keep(zmq::message_t& body, BodyLane& lane, const ReceivingConnection& connection, Doorbell* doorbell) {
  bool kept = lane.put(body);
  while (!kept) {
    if (connection.stopping()) return false;
    lane.space.wait(room_wait, [&] { return kept = lane.put(body); });
    kept = kept || lane.put(body);
  }
  if (doorbell != nullptr) doorbell->ring();
  return true;
}

/// Slots for all that a ring of the same size would hold, and for what lies in ZeroMQ's queues before it.
HostBlock make_pool(const Config& config, HostMemory& memory, std::size_t frame_bytes) {
  const auto shares = ring_shares(config);
  std::size_t bodies = 0;
  for (const auto share : shares)
    bodies +=
        share / frame_bytes + static_cast<std::size_t>(receive_hwm(config.rcvhwm_bytes, frame_bytes)) + 2;
  return memory.allocate((bodies + 1) * message_slot_bytes(frame_bytes), Paging::populate);
}

std::unique_ptr<BodyLane> make_lane(const Options& options, std::uint64_t share, std::size_t frame_bytes,
                                    HostMemory& memory) {
  const auto stores = options.stores == "streaming" ? Stores::streaming : Stores::cached;
  if (options.way == "pool") return make_message_lane(share / frame_bytes);
  const bool buffer = options.way == "buffer";
  const auto bytes = buffer ? std::max<std::uint64_t>(options.buffer_bytes, align16(frame_bytes)) : share;
  auto block = memory.allocate(bytes, Paging::populate);
  return buffer ? make_buffer_lane(std::move(block), frame_bytes, stores)
                : make_ring_lane(std::move(block), frame_bytes, stores);
}

void receive(const Config& config, const Options& options) {
  Readiness ready;
  ReceiveMemory memory(config);
  ready.device_seconds = memory.device_seconds();
  ready.memory = memory.host().kind() == MemoryKind::pinned ? "pinned" : "host";
  const ExpectedFrame frame{config.sources.front().shape, config.pixel_type};
  const auto begin = steady_ns();
  HostBlock pool;
  if (options.way == "pool") {
    pool = make_pool(config, memory.host(), frame.bytes());
    serve_message_bodies(pool.bytes(), frame.bytes());
  }
  std::vector<std::unique_ptr<BodyLane>> lanes;
  for (const auto share : ring_shares(config))
    lanes.push_back(make_lane(options, share, frame.bytes(), memory.host()));
  ready.memory_seconds = 1e-9 * static_cast<double>(steady_ns() - begin);

  // As the service has it: a batch of the ring must not fill it.
  const auto shares = ring_shares(config);
  const auto batch_bytes = std::min(config.batch_bytes, *std::min_element(shares.begin(), shares.end()) / 4);
  const auto device = make_device_copy(options.device, batch_bytes);
  const bool taken = options.way != "buffer";
  Doorbell doorbell;
  const int threads = options.io_threads == 0 ? io_threads(config) : options.io_threads;
  zmq::context_t context(threads);
  BatchConsumer consumer(lanes, *device, doorbell, batch_bytes);
  std::vector<std::unique_ptr<ReceivingConnection>> receivers;
  for (const auto& source : config.sources) {
    receivers.push_back(std::make_unique<ReceivingConnection>(
        context, source,
        ConnectionOptions{source.endpoints.front(), receive_hwm(config.rcvhwm_bytes, frame.bytes()),
                          io_affinity(receivers.size(), threads), frame.bytes()}));
    ready.endpoints.push_back(receivers.back()->endpoint());
  }
  if (taken) consumer.start();
  for (std::size_t i = 0; i < receivers.size(); ++i)
    receivers[i]->start([&lane = *lanes[i], &connection = *receivers[i], bell = taken ? &doorbell : nullptr](
                            zmq::message_t& body) { return keep(body, lane, connection, bell); });
  answer_reports(ready, [&] {
    Received received;
    for (const auto& receiver : receivers) receiver->add_to(received, !taken);
    consumer.add_to(received);
    received.outside_pool = bodies_outside_pool();
    return received;
  });
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto add_options = [&](CLI::App& app) {
    app.add_option("--way", options.way)->check(CLI::IsMember({"buffer", "ring", "pool"}));
    app.add_option("--buffer-bytes", options.buffer_bytes, "of --way buffer; 0: one frame");
    app.add_option("--stores", options.stores, "how a body is copied")
        ->check(CLI::IsMember({"cached", "streaming"}));
    app.add_option("--device-copy", options.device, "what becomes of a batch")
        ->check(CLI::IsMember({"none", "touch", "copy", "grouped"}));
    app.add_option("--io-threads", options.io_threads, "of ZeroMQ; 0: as many as pixhistd has")
        ->check(CLI::Range(0, 64));
  };
  return run_receiver(
      argc, argv, "Receives frames of one size by PULL and keeps their bodies in one way or another.",
      [&](const Config& config) { receive(config, options); }, add_options);
}
