// How busy the submit thread was over the last seconds.
#include "service/status/rate_meter.hpp"

#include <doctest/doctest.h>

using namespace pixhist;
using namespace std::chrono_literals;

namespace {

/// A meter without sources, sampled every half second as main does.
struct BusyBench {
  PipelineProgressBoard pipeline;
  RateMeter meter{0};
  std::chrono::nanoseconds now = 100s;

  double half_second(std::chrono::nanoseconds busy) {
    now += 500ms;
    pipeline.busy_ns += static_cast<std::uint64_t>(busy.count());
    meter.sample(now, {}, {}, pipeline);
    return meter.submit_busy_ratio();
  }
};

}  // namespace

TEST_CASE("the busy share is that of the samples kept, not of the time since the start") {
  BusyBench bench;
  CHECK_EQ(bench.half_second(400ms), 0.0);  // one sample says nothing
  CHECK_EQ(bench.half_second(250ms), 0.5);
  CHECK_EQ(bench.half_second(0ms), 0.25);
  for (int i = 0; i < 20; ++i) bench.half_second(0ms);
  CHECK_EQ(bench.meter.submit_busy_ratio(), 0.0);
  for (int i = 0; i < 20; ++i) bench.half_second(100ms);
  CHECK_EQ(bench.meter.submit_busy_ratio(), doctest::Approx(0.2));
}

TEST_CASE("a long step that is booked at its end makes no more than all of the time") {
  BusyBench bench;
  bench.half_second(0ms);
  CHECK_EQ(bench.half_second(3s), 1.0);
}

TEST_CASE("two samples of the same instant change nothing") {
  BusyBench bench;
  bench.half_second(0ms);
  bench.half_second(100ms);
  bench.meter.sample(bench.now, {}, {}, bench.pipeline);
  CHECK_EQ(bench.meter.submit_busy_ratio(), doctest::Approx(0.2));
}
