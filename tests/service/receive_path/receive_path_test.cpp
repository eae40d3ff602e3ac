// The receive thread takes no lock and no memory for a frame.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "service/agents/receive_agent.hpp"
#include "service/transport/ingest_socket.hpp"
#include "tests/service/receive_path/call_counter.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

constexpr std::size_t frame_bytes = 4096;

/// Two parts: a byte that says what the message is, and pixels.
class StubDecoder final : public FrameDecoder {
 public:
  DecodedMessage decode(std::span<const MessagePart> parts) override {
    if (parts.size() != 2) return ControlMessage{};
    FrameMessage frame{{}, parts[1], Place{4, 0, true}};
    frame.info.has_number = true;
    frame.info.number = ++number_;
    if (parts[0][0] == std::byte{'i'}) frame.info.flags = 0;
    return frame;
  }
  std::size_t max_parts() const override { return 2; }

 private:
  std::uint64_t number_ = 0;
};

/// Complete frames, incomplete ones and control messages in turn, without end.
class StubSource final : public MessageSource {
 public:
  std::optional<ReceivedMessage> receive() override {
    const auto kind = sent_++ % 3;
    const std::array<MessagePart, 2>& parts = kind == 0 ? complete_ : incomplete_;
    return ReceivedMessage{{parts.data(), kind == 2 ? 1U : 2U}, frame_bytes + 1};
  }
  void wait(std::chrono::milliseconds) override {}

 private:
  std::uint64_t sent_ = 0;
  const std::array<std::byte, 2> kinds_{std::byte{'f'}, std::byte{'i'}};
  const std::array<std::byte, frame_bytes> pixels_{};
  const std::array<MessagePart, 2> complete_{std::span(kinds_).first(1), pixels_};
  const std::array<MessagePart, 2> incomplete_{std::span(kinds_).last(1), pixels_};
};

struct Bench {
  explicit Bench(MessageSource& source, OnFull on_full)
      : agent({lane, source, decoder, clock, doorbell, places, on_full, OnIncomplete::mask_missing,
               [this](const Rejection&) { ++rejected; }, [](const PlaceVerdict&) {}}) {}

  /// What the steps themselves took; the ring is emptied between them, as the submit thread does.
  CallCounts steps(std::uint64_t until_received, bool empty_the_ring) {
    CallCounts sum;
    const auto& counters = lane.counters;
    while (counters.accepted.get() + counters.dropped.get() < until_received) {
      const CallCounts before = calls();
      agent.step();
      const CallCounts after = calls();
      sum.allocations += after.allocations - before.allocations;
      sum.locks += after.locks - before.locks;
      if (!empty_the_ring) continue;
      const auto records = lane.ring.available();
      lane.ring.take(records);
      lane.ring.release(records);
    }
    return sum;
  }

  MemoryAccount account;
  PageableMemory memory{account};
  IngestLane lane{0, "test", memory.allocate(64 * frame_bytes, Paging::populate), 256};
  StubDecoder decoder;
  SystemClock clock;
  Doorbell doorbell;
  PlaceBoard places{{8, 8}, {{"m0", {4, 8}, std::nullopt}}};
  std::uint64_t rejected = 0;
  ReceiveAgent agent;
};

}  // namespace

TEST_CASE("the counter itself sees allocations and locks") {
  const CallCounts before = calls();
  // Called by name: a new-expression of which nothing is seen may be optimised away.
  ::operator delete(::operator new(sizeof(int)));
  ::operator delete(::operator new(100));
  std::mutex mutex;
  mutex.lock();
  mutex.unlock();
  CHECK(calls().allocations - before.allocations == (allocations_are_counted() ? 2 : 0));
  CHECK(calls().locks - before.locks == (locks_are_counted() ? 1 : 0));
}

TEST_CASE("a step takes no memory and no lock for frames, complete or not, and control messages") {
  StubSource source;
  Bench bench(source, OnFull::wait);
  const CallCounts first = bench.steps(1, true);
  CHECK(first.locks == (locks_are_counted() ? 1 : 0));  // the place board, for the first header
  const CallCounts then = bench.steps(20'000, true);
  CHECK(then.allocations == 0);
  CHECK(then.locks == 0);
  CHECK(bench.lane.counters.control.get() > 1000);
}

TEST_CASE("a step takes no memory and no lock for frames that are dropped, or wait for the ring") {
  StubSource source;
  Bench dropping(source, OnFull::drop);
  dropping.steps(1, true);
  const CallCounts dropped = dropping.steps(20'000, false);
  CHECK(dropping.lane.counters.dropped.get() > 19'000);
  CHECK(dropped.allocations == 0);
  CHECK(dropped.locks == 0);

  Bench waiting(source, OnFull::wait);
  waiting.steps(64, true);
  CallCounts waited;
  for (int i = 0; i < 1000; ++i) {
    const CallCounts before = calls();
    waiting.agent.step();
    waited.allocations += calls().allocations - before.allocations;
    waited.locks += calls().locks - before.locks;
  }
  CHECK(waiting.lane.ring.used_bytes() == 64 * frame_bytes);
  CHECK(waited.allocations == 0);
  CHECK(waited.locks == 0);
}

// ZeroMQ takes the memory of message bodies on its own threads, with malloc. On ours it locks the mailbox of
// an I/O thread now and then, when it has something to tell it, but never for each message.
TEST_CASE("the socket takes no memory for a message, and no lock for each") {
  constexpr std::uint64_t frames = 5000;
  zmq::context_t context(1);
  IngestSocketOptions options;
  options.kind = SocketKind::pull;
  options.bind = true;
  options.endpoint = "tcp://127.0.0.1:*";
  options.max_part_bytes = 1 << 20;
  options.max_parts = 2;
  SocketEventCounters events;
  IngestSocket socket(context, options, events);
  Bench bench(socket, OnFull::wait);
  std::thread sender([&] {
    zmq::socket_t push(context, zmq::socket_type::push);
    push.connect(socket.endpoint());
    const std::array<std::byte, frame_bytes> pixels{};
    for (std::uint64_t i = 0; i < frames; ++i) {
      push.send(zmq::const_buffer("f", 1), zmq::send_flags::sndmore);
      push.send(zmq::const_buffer(pixels.data(), pixels.size()), zmq::send_flags::none);
    }
    push.close();
  });
  bench.steps(100, true);
  const CallCounts taken = bench.steps(frames, true);
  sender.join();
  CHECK(bench.lane.counters.accepted.get() == frames);
  CHECK(bench.rejected == 0);
  CHECK(taken.allocations == 0);
  MESSAGE(taken.locks << " locks for " << frames << " messages");
  CHECK(taken.locks < frames / 4);
}
