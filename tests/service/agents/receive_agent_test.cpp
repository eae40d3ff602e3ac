#include "service/agents/receive_agent.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <deque>

using namespace pixhist;
using std::chrono::milliseconds;

namespace {

/// One-part messages: 'f' + pixels is a frame, 'i' an incomplete one, 'p' + a digit one that lies at that
/// row, 'e' an end mark, 'c' a control message, anything else rejected.
class LetterDecoder final : public FrameDecoder {
 public:
  DecodedMessage decode(std::span<const MessagePart> parts) override {
    const auto part = parts[0];
    switch (static_cast<char>(part[0])) {
      case 'f': return FrameMessage{{}, part.subspan(1), {}};
      case 'i': {
        FrameMessage frame{{}, part.subspan(1), {}};
        frame.info.flags = 0;
        return frame;
      }
      case 'p': return FrameMessage{{}, part.subspan(2), Place{static_cast<std::uint32_t>(part[1]) - '0', 0}};
      case 'e': {
        ControlMessage end{true, {}};
        end.info.kind = RecordKind::run_end;
        return end;
      }
      case 'c': return ControlMessage{};
      default: return Rejection{RejectReason::bad_header, "no such letter"};
    }
  }
  std::size_t max_parts() const override { return 1; }
};

class QueueSource final : public MessageSource {
 public:
  std::optional<ReceivedMessage> receive() override {
    if (queue.empty()) return std::nullopt;
    current_ = std::move(queue.front());
    queue.pop_front();
    part_ = std::as_bytes(std::span(current_));
    return ReceivedMessage{{&part_, 1}, current_.size()};
  }
  void wait(std::chrono::milliseconds) override {}

  std::deque<std::string> queue;

 private:
  std::string current_;
  MessagePart part_;
};

struct ReceiveBench {
  explicit ReceiveBench(OnFull on_full, OnIncomplete on_incomplete = OnIncomplete::accumulate)
      : agent({lane, source, decoder, clock, doorbell, places, on_full, on_incomplete,
               [this](const Rejection& r) { rejections.push_back(r.message); },
               [this](const PlaceVerdict& v) { place_news.push_back(v.message); }}) {}
  std::uint64_t rejected(RejectReason reason) const {
    return lane.counters.rejected[static_cast<std::size_t>(reason)].get();
  }
  void free_one() {
    lane.ring.take();
    lane.ring.release(1);
  }

  MemoryAccount account;
  PageableMemory memory{account};
  IngestLane lane{0, "test", memory.allocate(64, Paging::on_demand), 8};  // four records of 16 bytes
  QueueSource source;
  LetterDecoder decoder;
  ManualClock clock;
  Doorbell doorbell;
  PlaceBoard places{{4, 8}, {{"m0", {2, 8}, std::nullopt}}};
  std::vector<std::string> rejections;
  std::vector<std::string> place_news;
  ReceiveAgent agent;
};

const std::string frame = "f0123456789abcdef";

}  // namespace

TEST_CASE("frames go into the ring, the rest is counted") {
  ReceiveBench bench(OnFull::wait);
  bench.source.queue = {frame, "x", "c", "e", frame};
  CHECK(bench.agent.step());
  const auto& counters = bench.lane.counters;
  CHECK(counters.accepted.get() == 2);
  CHECK(counters.control.get() == 2);
  CHECK(counters.rejected[static_cast<std::size_t>(RejectReason::bad_header)].get() == 1);
  CHECK(counters.pixel_bytes.get() == 32);
  CHECK(counters.received_bytes.get() == 2 * 17 + 3);
  CHECK(bench.rejections == std::vector<std::string>{"no such letter"});
  REQUIRE(bench.lane.ring.available() == 3);
  CHECK(bench.lane.ring.peek(1).info.kind == RecordKind::run_end);
  CHECK(std::memcmp(bench.lane.ring.payload(bench.lane.ring.peek(2)).data(), frame.data() + 1, 16) == 0);
  CHECK_FALSE(bench.agent.step());
}

TEST_CASE("marks are not to wait for a batch to fill; other messages are") {
  ReceiveBench bench(OnFull::wait);
  bench.source.queue = {frame, "c", "x", frame};
  bench.agent.step();
  CHECK_FALSE(bench.lane.wake.hurried(0));
  bench.source.queue = {"e", frame};
  bench.agent.step();
  CHECK(bench.lane.wake.hurried(2));
  CHECK_FALSE(bench.lane.wake.hurried(3));
}

TEST_CASE("a frame of many KiB comes into the ring as it was, to its last byte") {
  MemoryAccount account;
  PageableMemory memory(account);
  IngestLane lane(0, "test", memory.allocate(2 << 20, Paging::on_demand), 8);
  QueueSource source;
  LetterDecoder decoder;
  const ManualClock clock;
  Doorbell doorbell;
  PlaceBoard places({4, 8}, {{"m0", {2, 8}, std::nullopt}});
  ReceiveAgent agent({lane, source, decoder, clock, doorbell, places, OnFull::wait, OnIncomplete::accumulate,
                      [](const Rejection&) {}, [](const PlaceVerdict&) {}});
  for (const std::size_t bytes : {std::size_t{300} << 10, (std::size_t{300} << 10) + 7}) {
    std::string message(1 + bytes, 'f');
    for (std::size_t i = 1; i < message.size(); ++i) message[i] = static_cast<char>(i * 31 % 251);
    source.queue = {message};
    agent.step();
    REQUIRE(lane.ring.available() == 1);
    const auto payload = lane.ring.payload(lane.ring.peek());
    REQUIRE(payload.size() == bytes);
    CHECK(std::memcmp(payload.data(), message.data() + 1, bytes) == 0);
    lane.ring.take();
    lane.ring.release(1);
  }
}

TEST_CASE("on_full wait: reading stops, nothing is lost, the order stays") {
  ReceiveBench bench(OnFull::wait);
  for (int i = 0; i < 6; ++i) bench.source.queue.push_back("f000000000000000" + std::to_string(i));
  bench.agent.step();
  CHECK(bench.lane.counters.accepted.get() == 4);
  CHECK(bench.source.queue.size() == 1);  // one waits in hand
  CHECK_FALSE(bench.agent.step());
  for (int i = 0; i < 6; ++i) {
    CHECK(static_cast<char>(bench.lane.ring.payload(bench.lane.ring.peek()).back()) == '0' + i);
    bench.free_one();
    bench.agent.step();
  }
  CHECK(bench.lane.counters.accepted.get() == 6);
  CHECK(bench.lane.counters.dropped.get() == 0);
}

TEST_CASE("on_full drop: what does not fit is counted; marks are never dropped") {
  ReceiveBench bench(OnFull::drop);
  for (int i = 0; i < 6; ++i) bench.source.queue.push_back(frame);
  bench.agent.step();
  CHECK(bench.lane.counters.accepted.get() == 4);
  CHECK(bench.lane.counters.dropped.get() == 2);
  for (int i = 0; i < 5; ++i) bench.source.queue.push_back("e");
  bench.agent.step();
  CHECK(bench.lane.counters.control.get() == 4);  // eight descriptors, four hold frames
  bench.free_one();
  bench.agent.step();
  CHECK(bench.lane.counters.control.get() == 5);
}

TEST_CASE("finish: receives until it is quiet") {
  ReceiveBench bench(OnFull::wait);
  bench.agent.request_finish(milliseconds(100), milliseconds(1000));
  bench.source.queue = {frame};
  bench.agent.step();
  bench.clock.advance(milliseconds(90));
  bench.agent.step();
  bench.source.queue = {frame};
  bench.clock.advance(milliseconds(90));
  bench.agent.step();
  CHECK_FALSE(bench.agent.finished());
  bench.agent.step();
  bench.clock.advance(milliseconds(100));
  bench.agent.step();
  CHECK(bench.agent.finished());
  CHECK(bench.lane.counters.accepted.get() == 2);
}

TEST_CASE("finish: a sender that never stops has the grace, waiting for the ring not counted") {
  ReceiveBench bench(OnFull::wait);
  bench.agent.request_finish(milliseconds(100), milliseconds(1000));
  for (int i = 0; i < 5; ++i) bench.source.queue.push_back(frame);
  bench.agent.step();  // full, one waits
  bench.clock.advance(milliseconds(5000));
  bench.agent.step();
  CHECK_FALSE(bench.agent.finished());
  bench.free_one();
  bench.agent.step();
  CHECK_FALSE(bench.agent.finished());
  CHECK(bench.lane.counters.accepted.get() == 5);
  bench.clock.advance(milliseconds(1000));
  bench.source.queue = {"c"};
  bench.agent.step();
  CHECK(bench.agent.finished());
}

TEST_CASE("a frame in hand when all ends is counted as dropped") {
  ReceiveBench bench(OnFull::wait);
  for (int i = 0; i < 5; ++i) bench.source.queue.push_back(frame);
  bench.agent.step();
  CHECK(bench.agent.abandon_waiting());
  CHECK(bench.lane.counters.dropped.get() == 1);
  CHECK_FALSE(bench.agent.abandon_waiting());
}

TEST_CASE("the first header places the source; a frame that lies elsewhere is rejected") {
  ReceiveBench bench(OnFull::wait);
  bench.source.queue = {"p9x", "p1x", "p1y", "p2z", "p1z"};
  bench.agent.step();
  CHECK(bench.lane.counters.accepted.get() == 3);
  CHECK(bench.rejected(RejectReason::geometry) == 2);
  REQUIRE(bench.rejections.size() == 2);
  CHECK(bench.rejections[0].find("rows [9, 11) cols [0, 8), which leaves the detector of rows [0, 4)") !=
        std::string::npos);
  CHECK(bench.rejections[1].find("m0 at rows [2, 4) cols [0, 8); earlier headers placed m0 at rows [1, 3)") !=
        std::string::npos);
  CHECK(bench.place_news == std::vector<std::string>{"m0 at rows [1, 3) cols [0, 8), as its header says"});
  CHECK(bench.places.placed()[0].place == Place{1, 0, false});
}

TEST_CASE("on_incomplete reject: incomplete frames are counted, not taken, and place nothing") {
  ReceiveBench bench(OnFull::wait, OnIncomplete::reject);
  bench.source.queue = {"i0", "f0", "i1"};
  bench.agent.step();
  CHECK(bench.lane.counters.accepted.get() == 1);
  CHECK(bench.rejected(RejectReason::incomplete) == 2);
  CHECK(bench.rejections[0].find("on_incomplete: reject") != std::string::npos);
}

TEST_CASE("on_incomplete accumulate and mask_missing: incomplete frames go into the ring as such") {
  for (const auto policy : {OnIncomplete::accumulate, OnIncomplete::mask_missing}) {
    ReceiveBench bench(OnFull::wait, policy);
    bench.source.queue = {"i0", "f0"};
    bench.agent.step();
    REQUIRE(bench.lane.ring.available() == 2);
    CHECK((bench.lane.ring.peek(0).info.flags & frame_flags::complete) == 0);
    CHECK((bench.lane.ring.peek(1).info.flags & frame_flags::complete) != 0);
  }
}
