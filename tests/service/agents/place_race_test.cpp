// Places under races: receive threads that want the same pixels, and cuts taken while places become known.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

#include "service/agents/receive_agent.hpp"
#include "tests/service/agents/submit_bench.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

/// So many messages of one byte.
class Messages final : public MessageSource {
 public:
  explicit Messages(std::uint64_t count) : left_(count) {}
  std::optional<ReceivedMessage> receive() override {
    if (left_ == 0) return std::nullopt;
    --left_;
    return ReceivedMessage{{&part_, 1}, byte_.size()};
  }
  void wait(std::chrono::milliseconds) override {}

 private:
  std::uint64_t left_;
  const std::array<std::byte, 1> byte_{};
  const MessagePart part_{byte_};
};

/// Every message is a frame of pixels 1, without a number, that says the same place.
class PlacedDecoder final : public FrameDecoder {
 public:
  explicit PlacedDecoder(Place place) : place_(place) { pixels_.fill(1); }
  DecodedMessage decode(std::span<const MessagePart>) override {
    return FrameMessage{{}, std::as_bytes(std::span(pixels_)), place_};
  }
  std::size_t max_parts() const override { return 1; }

 private:
  const Place place_;
  std::array<std::uint16_t, SubmitBench::shape.rows * SubmitBench::shape.cols> pixels_;
};

}  // namespace

TEST_CASE("of sources that race for the same pixels exactly one gets them") {
  constexpr std::size_t sources = 8;
  for (int round = 0; round < 50; ++round) {
    std::vector<SourceSite> sites;
    for (std::size_t i = 0; i < sources; ++i)
      sites.push_back({"m" + std::to_string(i), {4, 8}, std::nullopt});
    PlaceBoard board({4, 8}, sites);
    std::atomic<int> accepted{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < sources; ++i)
      threads.emplace_back([&board, &accepted, i] { accepted += board.judge(i, {0, 0}).accepted() ? 1 : 0; });
    for (auto& thread : threads) thread.join();
    CHECK(accepted == 1);
    std::size_t placed = 0;
    for (const auto& source : board.placed()) placed += source.place ? 1 : 0;
    CHECK(placed == 1);
  }
}

TEST_CASE("a cut sees the place of every frame in it, also of the first ones of two sockets") {
  constexpr std::uint64_t frames = 200;
  for (int round = 0; round < 10; ++round) {
    // Two sources of unknown place, the second with two sockets.
    SubmitBench bench({1, 2}, {4, 1 << 20, std::chrono::milliseconds(0)}, true, 4096, 64, false);
    const SystemClock clock;
    const auto pixels = SubmitBench::shape.pixels();
    std::vector<std::thread> threads;
    std::atomic<int> running{3};
    for (std::size_t lane = 0; lane < 3; ++lane) {
      threads.emplace_back([&, lane] {
        const bool flip = lane != 0;
        PlacedDecoder decoder({0, flip ? SubmitBench::shape.cols : 0U, flip});
        Messages source(frames);
        ReceiveAgent agent({*bench.lanes[lane], source, decoder, clock, bench.doorbell, bench.places,
                            OnFull::wait, OnIncomplete::accumulate, [](const Rejection&) {},
                            [](const PlaceVerdict&) {}});
        while (bench.lanes[lane]->counters.accepted.get() != frames) agent.step();
        --running;
      });
    }
    const Rect all{0, 2, 0, 6};
    bool last = false;
    while (!last) {
      last = running == 0;
      bench.push(bench.read(all, true));
      while (bench.results.empty()) bench.agent->step();
      const auto snapshot = bench.results.back().snapshot;
      bench.results.clear();
      std::uint64_t counted = 0;
      for (const auto n : snapshot->counts.as<std::uint32_t>()) counted += n;
      REQUIRE(counted == snapshot->cut.frames() * pixels);
    }
    for (auto& thread : threads) thread.join();
    const auto placed = bench.places.placed();
    CHECK(placed[0].place == Place{0, 0, false});
    CHECK(placed[1].place == Place{0, SubmitBench::shape.cols, true});
    CHECK(bench.account(0).accumulated == frames);
    CHECK(bench.account(1).accumulated == 2 * frames);
  }
}
