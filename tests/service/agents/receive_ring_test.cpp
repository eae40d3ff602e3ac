// A receive thread that waits for its ring is woken by the submit thread's release, not by a clock.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "service/agents/receive_agent.hpp"
#include "tests/service/agents/submit_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

constexpr std::size_t frame_bytes = SubmitBench::shape.rows * SubmitBench::shape.cols * sizeof(std::uint16_t);

class EndlessSource final : public MessageSource {
 public:
  std::optional<ReceivedMessage> receive() override { return ReceivedMessage{{&part_, 1}, frame_bytes}; }
  void wait(std::chrono::milliseconds) override {}

 private:
  const std::array<std::byte, frame_bytes> bytes_{};
  const MessagePart part_{bytes_};
};

class PlainDecoder final : public FrameDecoder {
 public:
  DecodedMessage decode(std::span<const MessagePart> parts) override {
    return FrameMessage{{}, parts[0], std::nullopt};
  }
  std::size_t max_parts() const override { return 1; }
};

}  // namespace

TEST_CASE("a receive thread that waits for its ring goes on when records are released, batch after batch") {
  constexpr std::uint64_t frames = 16'000;  // 16 fit: 1000 waits or more, of 10 ms each if nobody rang
  SubmitBench bench({1}, {4, 1 << 20, std::chrono::milliseconds(0)}, true, 256, 64);
  const SystemClock clock;
  EndlessSource source;
  PlainDecoder decoder;
  ReceiveAgent agent({*bench.lanes[0], source, decoder, clock, bench.doorbell, bench.places, OnFull::wait,
                      OnIncomplete::accumulate, [](const Rejection&) {}, [](const PlaceVerdict&) {}});
  std::atomic<bool> done{false};
  std::thread receiver([&] {
    while (!done) {
      if (!agent.step()) agent.wait();
    }
  });
  const auto begin = clock.now();
  while (bench.account().accumulated < frames) bench.agent->step();
  const auto took = clock.now() - begin;
  done = true;
  receiver.join();
  CHECK(bench.lanes[0]->counters.dropped.get() == 0);
  CHECK(took < std::chrono::seconds(5));
}
