#include "service/agents/receive_pace.hpp"

#include <doctest/doctest.h>

using namespace pixhist;
using namespace std::chrono_literals;

namespace {

/// A thread that wakes whenever it may, for messages that come every `interval`; the nap it takes at last.
std::chrono::microseconds settled_nap(ReceivePace pace, ReceivePace::Duration interval) {
  ReceivePace::Duration now = 1s;
  ReceivePace::Duration nap{};
  for (int i = 0; i < 100; ++i) {
    nap = pace.nap();
    const auto messages = std::max<std::size_t>(static_cast<std::size_t>(nap / interval), 1);
    now += interval * static_cast<std::int64_t>(messages);
    pace.drained(messages, now);
  }
  return std::chrono::round<std::chrono::microseconds>(nap);
}

}  // namespace

TEST_CASE("receive_pace: naps for a lot of small messages, never longer than allowed") {
  CHECK(settled_nap({32, 10ms}, 100us) == 3200us);
  CHECK(settled_nap({32, 10ms}, 1us) == 32us);
  CHECK(settled_nap({32, 10ms}, 1ms) == 10ms);
  CHECK(settled_nap({8, 10ms}, 1ms) == 8ms);
}

TEST_CASE("receive_pace: waits for the next message where a nap would gather fewer than two") {
  CHECK(settled_nap({32, 10ms}, 6ms) == 0ms);
  CHECK(settled_nap({32, 10ms}, 1s) == 0ms);
  CHECK(settled_nap({1, 10ms}, 1us) == 0ms);
  CHECK(settled_nap({0, {}}, 1us) == 0ms);
}

TEST_CASE("receive_pace: a nap in which nothing came is the last one before a message") {
  ReceivePace pace(32, 10ms);
  ReceivePace::Duration now = 1s;
  for (int i = 0; i < 100; ++i) pace.drained(1, now += 100us);
  CHECK(pace.nap() > 0ms);
  pace.drained(0, now += 3200us);
  CHECK(pace.nap() == 0ms);
  pace.drained(0, now += 5s);
  CHECK(pace.nap() == 0ms);
  pace.drained(1, now += 1us);  // 5 s for one message count as the longest nap, and are forgotten soon
  for (int i = 0; i < 10; ++i) pace.drained(1, now += 100us);
  CHECK(pace.nap() > 0ms);
}

TEST_CASE("receive_pace: the first message is waited for") { CHECK(ReceivePace(32, 10ms).nap() == 0ms); }

TEST_CASE(
    "receive_pace: a lot fills neither the socket's queue nor a cache, and is there long before its batch") {
  CHECK(settled_nap(receive_pace(4096, 1000, 200ms), 100us) == 3200us);
  CHECK(settled_nap(receive_pace(4096, 40, 200ms), 100us) == 500us);
  CHECK(settled_nap(receive_pace(4096, 8, 200ms), 100us) == 0us);
  CHECK(settled_nap(receive_pace(128 << 10, 1000, 200ms), 100us) == 800us);
  CHECK(settled_nap(receive_pace(1 << 20, 256, 200ms), 100us) == 0us);
  CHECK(settled_nap(receive_pace(4096, 1000, 20ms), 100us) == 1ms);
  CHECK(settled_nap(receive_pace(4096, 1000, 10s), 1ms) == 10ms);
}
