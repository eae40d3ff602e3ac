#pragma once
// The account: every message of a source is counted once, and nothing vanishes uncounted.
//   received = rejected + dropped + accepted        (control messages are counted apart)
//   accepted = in_ring + in_flight + accumulated + discarded
// in_ring and in_flight are differences of single-writer counters, read downstream first with acquire, so
// they are never negative. Writers: one receive thread per ring, one submit thread per source.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "core/model/frame_fate.hpp"

namespace pixhist {

/// A counter with one writing thread: a plain add for the writer, an acquire load for readers.
class SingleWriterCounter {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  void set(std::uint64_t n) { value_.store(n, std::memory_order_release); }
  std::uint64_t get() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Written by the receive thread of one ring. `accepted` is advanced before the record is committed.
struct alignas(64) ReceiveCounters {
  SingleWriterCounter accepted;
  SingleWriterCounter dropped;
  SingleWriterCounter control;
  std::array<SingleWriterCounter, reject_reason_count> rejected;
  SingleWriterCounter received_bytes;      // all parts of all messages
  SingleWriterCounter pixel_bytes;         // payload of accepted frames, decoded size
  SingleWriterCounter last_frame_unix_ms;  // 0: none yet

  void reject(RejectReason reason) { rejected[static_cast<std::size_t>(reason)].add(); }
};

/// Written by the submit thread, one per source.
struct alignas(64) SubmitCounters {
  SingleWriterCounter taken;
  SingleWriterCounter taken_pixel_bytes;
  SingleWriterCounter accumulated;
  std::array<SingleWriterCounter, discard_reason_count> discarded;
  SingleWriterCounter missing;
  SingleWriterCounter late;
  SingleWriterCounter incomplete;  // taken to be accumulated, parts lost before they were sent
  SingleWriterCounter restarted;
  SingleWriterCounter open;  // a gauge: unseen numbers still inside the window

  void discard(DiscardReason reason, std::uint64_t n = 1) {
    discarded[static_cast<std::size_t>(reason)].add(n);
  }
};

/// Plain numbers of one source at one instant, or of one run.
struct FrameAccount {
  std::uint64_t accepted = 0;
  std::uint64_t dropped = 0;
  std::uint64_t control = 0;
  std::array<std::uint64_t, reject_reason_count> rejected{};
  std::uint64_t in_ring = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t accumulated = 0;
  std::array<std::uint64_t, discard_reason_count> discarded{};
  std::uint64_t missing = 0;
  std::uint64_t late = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t restarted = 0;
  std::uint64_t open = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t pixel_bytes = 0;
  std::uint64_t taken_pixel_bytes = 0;  // pixel_bytes of frames taken from the rings; for start_of_run()

  std::uint64_t rejected_total() const;
  std::uint64_t discarded_total() const;
  std::uint64_t received() const { return rejected_total() + dropped + accepted; }
  /// Adds each number; a sum that would exceed 64 bits stays at the largest value.
  FrameAccount& operator+=(const FrameAccount& other);
  friend bool operator==(const FrameAccount&, const FrameAccount&) = default;
};

/// The lifetime account of a source with these rings, read downstream first; may be called from any thread.
FrameAccount read_account(std::span<const ReceiveCounters* const> rings, const SubmitCounters& submit);

/// What has been counted since `base`, an earlier account of the same source or the start_of_run() of one.
/// Gauges (in_ring, in_flight, open) are those of `now`. With a start_of_run() base the result obeys
/// accepted = in_ring + in_flight + accumulated + discarded exactly.
FrameAccount since(const FrameAccount& now, const FrameAccount& base);

/// The base for since() if a run starts at the instant `now`: frames that lie in the rings or in flight
/// belong to the new run, so only resolved ones stay behind as accepted (their bytes are counted at receipt
/// and do too). It also closes the account of the run before: since(start_of_run(now), base) has every frame
/// resolved, and the accounts of consecutive runs add up exactly.
FrameAccount start_of_run(FrameAccount now);

}  // namespace pixhist
