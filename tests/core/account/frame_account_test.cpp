#include "core/account/frame_account.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

using namespace pixhist;

namespace {

bool balanced(const FrameAccount& a) {
  return a.accepted == a.in_ring + a.in_flight + a.accumulated + a.discarded_total();
}

}  // namespace

TEST_CASE("an account read from counters holds each of them, and the differences") {
  std::array<ReceiveCounters, 2> rings;
  rings[0].accepted.add(10);
  rings[1].accepted.add(7);
  rings[0].dropped.add(3);
  rings[1].control.add(2);
  rings[0].reject(RejectReason::size);
  rings[1].reject(RejectReason::size);
  rings[1].reject(RejectReason::geometry);
  rings[0].received_bytes.add(1000);
  rings[1].received_bytes.add(500);
  rings[0].pixel_bytes.add(900);
  SubmitCounters submit;
  submit.taken.add(12);
  submit.accumulated.add(5);
  submit.discard(DiscardReason::duplicate, 2);
  submit.discard(DiscardReason::stop);
  submit.missing.add(4);
  submit.late.add(6);
  submit.incomplete.add(8);
  submit.restarted.add();
  submit.open.set(9);

  const std::array<const ReceiveCounters*, 2> both{&rings[0], &rings[1]};
  const FrameAccount a = read_account(both, submit);
  CHECK(a.accepted == 17);
  CHECK(a.dropped == 3);
  CHECK(a.control == 2);
  CHECK(a.rejected[static_cast<std::size_t>(RejectReason::size)] == 2);
  CHECK(a.rejected[static_cast<std::size_t>(RejectReason::geometry)] == 1);
  CHECK(a.rejected_total() == 3);
  CHECK(a.received() == 23);
  CHECK(a.in_ring == 5);
  CHECK(a.in_flight == 4);
  CHECK(a.accumulated == 5);
  CHECK(a.discarded[static_cast<std::size_t>(DiscardReason::duplicate)] == 2);
  CHECK(a.discarded[static_cast<std::size_t>(DiscardReason::stop)] == 1);
  CHECK(a.discarded_total() == 3);
  CHECK(a.missing == 4);
  CHECK(a.late == 6);
  CHECK(a.incomplete == 8);
  CHECK(a.restarted == 1);
  CHECK(a.open == 9);
  CHECK(a.received_bytes == 1500);
  CHECK(a.pixel_bytes == 900);
}

TEST_CASE("a source without rings has an empty account") {
  CHECK(read_account({}, SubmitCounters{}) == FrameAccount{});
}

TEST_CASE("frames in the rings and in flight at a reset belong to the new run") {
  ReceiveCounters ring;
  SubmitCounters submit;
  const std::array<const ReceiveCounters*, 1> rings{&ring};
  ring.accepted.add(100);
  ring.dropped.add(5);
  ring.received_bytes.add(1000);
  ring.reject(RejectReason::dtype);
  submit.taken.add(80);
  submit.accumulated.add(60);
  submit.discard(DiscardReason::decode, 10);
  submit.missing.add(3);
  submit.open.set(2);

  const FrameAccount base = start_of_run(read_account(rings, submit));
  const FrameAccount at_reset = since(read_account(rings, submit), base);
  CHECK(at_reset.accepted == 30);
  CHECK(at_reset.in_ring == 20);
  CHECK(at_reset.in_flight == 10);
  CHECK(at_reset.accumulated == 0);
  CHECK(at_reset.discarded_total() == 0);
  CHECK(at_reset.dropped == 0);
  CHECK(at_reset.rejected_total() == 0);
  CHECK(at_reset.received_bytes == 0);
  CHECK(at_reset.missing == 0);
  CHECK(at_reset.open == 2);
  CHECK(balanced(at_reset));

  ring.accepted.add(4);
  ring.dropped.add(1);
  ring.reject(RejectReason::dtype);
  submit.taken.add(24);
  submit.accumulated.add(29);
  submit.discard(DiscardReason::decode, 3);
  submit.missing.add(2);
  submit.open.set(0);
  const FrameAccount later = since(read_account(rings, submit), base);
  CHECK(later.accepted == 34);
  CHECK(later.in_ring == 0);
  CHECK(later.in_flight == 2);
  CHECK(later.accumulated == 29);
  CHECK(later.discarded[static_cast<std::size_t>(DiscardReason::decode)] == 3);
  CHECK(later.dropped == 1);
  CHECK(later.rejected[static_cast<std::size_t>(RejectReason::dtype)] == 1);
  CHECK(later.missing == 2);
  CHECK(later.open == 0);
  CHECK(balanced(later));
}

TEST_CASE("the sum of two sources is the sum of every number") {
  FrameAccount a;
  a.accepted = 10;
  a.in_ring = 1;
  a.in_flight = 2;
  a.accumulated = 7;
  a.open = 3;
  a.rejected[0] = 1;
  FrameAccount b;
  b.accepted = 5;
  b.in_ring = 5;
  b.dropped = 9;
  b.control = 2;
  b.discarded[1] = 0;
  b.missing = 1;
  b.late = 2;
  b.restarted = 3;
  b.open = 4;
  b.rejected[0] = 6;
  b.received_bytes = 7;
  b.pixel_bytes = 8;
  a += b;
  FrameAccount sum;
  sum.accepted = 15;
  sum.in_ring = 6;
  sum.in_flight = 2;
  sum.accumulated = 7;
  sum.dropped = 9;
  sum.control = 2;
  sum.missing = 1;
  sum.late = 2;
  sum.restarted = 3;
  sum.open = 7;
  sum.rejected[0] = 7;
  sum.received_bytes = 7;
  sum.pixel_bytes = 8;
  CHECK(a == sum);
}

TEST_CASE("differences are never negative while the counters advance on two threads") {
  constexpr int looks = 1000000;
  ReceiveCounters ring;
  SubmitCounters submit;
  std::atomic<std::uint64_t> committed{0};  // stands for the ring between the two
  std::atomic<bool> stop{false};
  std::atomic<bool> received_all{false};

  std::thread receive([&] {
    std::uint64_t frames = 0;
    while (!stop) {
      ring.accepted.add();
      committed.store(++frames, std::memory_order_release);
    }
    received_all = true;
  });
  std::thread submitter([&] {
    std::uint64_t taken = 0;
    for (bool last_round = false; !last_round;) {
      last_round = received_all;
      const std::uint64_t available = committed.load(std::memory_order_acquire) - taken;
      for (std::uint64_t i = 0; i < available; ++i) {
        submit.taken.add();
        if (++taken % 7 == 0)
          submit.discard(DiscardReason::stale_run);
        else
          submit.accumulated.add();
      }
    }
  });

  const std::array<const ReceiveCounters*, 1> rings{&ring};
  while (ring.accepted.get() == 0) std::this_thread::yield();
  const FrameAccount base = start_of_run(read_account(rings, submit));
  int negative = 0;
  int unbalanced = 0;
  for (int i = 0; i < looks; ++i) {
    const FrameAccount a = read_account(rings, submit);
    negative += a.in_ring > a.accepted || a.in_flight > a.accepted;
    unbalanced += !balanced(a) || !balanced(since(a, base));
  }
  stop = true;
  receive.join();
  submitter.join();
  CHECK(negative == 0);
  CHECK(unbalanced == 0);
  const FrameAccount end = read_account(rings, submit);
  CHECK(end.accepted == committed);
  CHECK(end.accumulated + end.discarded_total() == end.accepted);
  CHECK(end.in_ring == 0);
  CHECK(end.in_flight == 0);
}
