// bench_null_sink: receives as the service does (sockets, threads, ring), and throws the frames away. What
// the service can at best be as fast as.

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>
#include <zmq.hpp>

#include "bench/end_to_end/receiver_program.hpp"
#include "proto/ingest/decoder_registry.hpp"
#include "service/agents/agent.hpp"
#include "service/agents/receive_agent.hpp"
#include "service/ingest_parts.hpp"

using namespace pixhist;
using namespace pixhist::bench;

namespace {

/// In the submit thread's place: takes all records of all rings and releases them.
class Discarder final : public Agent {
 public:
  /// `batch_bytes`: of a batch of the submit thread.
  Discarder(std::vector<std::unique_ptr<IngestLane>>& lanes, Doorbell& doorbell, std::uint64_t batch_bytes)
      : lanes_(lanes), doorbell_(doorbell), batch_bytes_(batch_bytes) {}

  bool step() override {
    bool worked = false;
    for (auto& lane : lanes_) {
      const std::size_t n = lane->ring.available();
      if (n == 0) continue;
      worked = true;
      for (std::size_t i = 0; i < n; ++i) {
        const Record& record = lane->ring.peek();
        const bool frame = record.info.kind == RecordKind::frame;
        if (frame) received_times_.note(static_cast<std::uint64_t>(record.info.received.count()));
        (frame ? frames_ : others_).add(1);
        bytes_.add(record.payload_bytes);
        if (frame) record_bytes_ = record.payload_bytes;
        lane->ring.take();
      }
      lane->ring.release(n);
      lane->space.ring();
    }
    if (worked) done_times_.note(steady_ns());
    return worked;
  }

  /// As the submit thread: woken by frames once they are a batch, and by an end mark.
  void wait() override {
    for (auto& lane : lanes_) lane->wake.set(wanted(*lane));
    doorbell_.wait(std::chrono::milliseconds(100), [this] {
      return std::any_of(lanes_.begin(), lanes_.end(), [this](const auto& lane) {
        return lane->ring.committed() >= wanted(*lane) || lane->wake.hurried(lane->ring.taken());
      });
    });
  }

  Received received() const {
    Received r;
    r.frames = frames_.get();
    r.bytes = bytes_.get();
    r.others = others_.get();
    received_times_.add_to(r);
    done_times_.add_to(r);
    return r;
  }

 private:
  std::uint64_t wanted(const IngestLane& lane) const {
    const auto limit = std::min(batch_bytes_, lane.ring.capacity() / 4);
    return lane.ring.taken() + std::max<std::uint64_t>(limit / std::max<std::uint64_t>(record_bytes_, 1), 1);
  }

  std::vector<std::unique_ptr<IngestLane>>& lanes_;
  Doorbell& doorbell_;
  const std::uint64_t batch_bytes_;
  std::uint64_t record_bytes_ = 0;  // of the last frame
  SingleWriterCounter frames_, bytes_, others_;
  FrameTimes received_times_, done_times_;
};

std::vector<SourceSite> sites(const Config& config) {
  std::vector<SourceSite> sites;
  for (const auto& source : config.sources) sites.push_back({source.name, source.shape, source.place});
  return sites;
}

void report_rejection(const Rejection& rejection) {
  std::fprintf(stderr, "bench_null_sink: rejected: %s\n", rejection.message.c_str());
}

struct Receiver {
  std::unique_ptr<FrameDecoder> decoder;
  std::unique_ptr<IngestSocket> socket;
  std::unique_ptr<ReceiveAgent> agent;
  std::unique_ptr<AgentRunner> runner;
};

void add_high_water(const std::vector<std::unique_ptr<IngestLane>>& lanes, Received& received) {
  for (const auto& lane : lanes) {
    const auto high = lane->ring.high_water_bytes();
    const auto part = [](std::uint64_t used, std::uint64_t of) {
      return of == 0 ? -1.0 : static_cast<double>(used) / static_cast<double>(of);
    };
    if (part(high, lane->ring.capacity()) <= part(received.ring_high_water_bytes, received.ring_bytes))
      continue;
    received.ring_high_water_bytes = high;
    received.ring_bytes = lane->ring.capacity();
  }
}

void receive(const Config& config) {
  Readiness ready;
  ReceiveMemory memory(config);
  ready.device_seconds = memory.device_seconds();
  const auto begin = steady_ns();
  auto lanes = make_lanes(config, memory.host(), memory.account());
  ready.memory_seconds = 1e-9 * static_cast<double>(steady_ns() - begin);
  ready.memory = memory.host().kind() == MemoryKind::pinned ? "pinned" : "host";

  SystemClock clock;
  Doorbell doorbell;
  PlaceBoard places(config.detector, sites(config));
  Discarder discarder(lanes, doorbell, config.batch_bytes);
  const auto on_error = [](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "bench_null_sink: %s\n", e.what());
      std::_Exit(1);
    }
  };
  AgentRunner discard("discard", discarder, clock, on_error);
  zmq::context_t context(io_threads(config));
  std::vector<Receiver> receivers;
  for (auto& lane : lanes) {
    const auto& source = config.sources[lane->source];
    Receiver r;
    r.decoder = make_decoder(source.format, {source.shape, config.pixel_type});
    const auto options = ingest_options(config, *lane, receivers.size(), r.decoder->max_parts());
    r.socket = std::make_unique<IngestSocket>(context, options, lane->socket_events);
    ready.endpoints.push_back(r.socket->endpoint());
    ready.memory_bytes += lane->ring.capacity();
    r.agent = std::make_unique<ReceiveAgent>(ReceiveAgent::Parts{
        *lane, *r.socket, *r.decoder, clock, doorbell, places, source.on_full, source.on_incomplete,
        report_rejection, [](const PlaceVerdict&) {}, ingest_pace(config, *lane, options)});
    r.runner =
        std::make_unique<AgentRunner>("recv-" + std::to_string(receivers.size()), *r.agent, clock, on_error);
    receivers.push_back(std::move(r));
  }
  discard.start();
  for (auto& r : receivers) r.runner->start();
  answer_reports(ready, [&] {
    auto received = discarder.received();
    add_high_water(lanes, received);
    return received;
  });
  for (auto& r : receivers) r.runner->stop();
  discard.stop();
}

}  // namespace

int main(int argc, char** argv) {
  return run_receiver(
      argc, argv, "Receives as pixhistd does, with its configuration, and throws the frames away.", receive);
}
