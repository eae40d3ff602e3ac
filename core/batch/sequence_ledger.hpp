#pragma once
// Judges the frame numbers of one source: late, duplicate, missing, restarted. Rules: docs/architecture.md,
// "The account". A window of the last `window` numbers is kept as a bitmap; a number becomes missing only when
// the window has left it or the sequence ends, so `missing` never falls.
// Owned by the submit thread; no locks, no allocation after construction.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/frame_fate.hpp"
#include "core/ring/record.hpp"

namespace pixhist {

struct SequenceRules {
  std::uint64_t window = 1024;  // numbers
  std::uint64_t step = 1;       // only every step-th number is expected; 0: numbers are not judged
};

/// What judging one frame found. missing counts numbers given up by this frame.
struct Verdict {
  std::optional<DiscardReason> discard;  // duplicate or stale_run: not to be binned
  bool late = false;
  bool restarted = false;
  std::uint64_t missing = 0;
};

class SequenceLedger {
 public:
  explicit SequenceLedger(SequenceRules rules);

  /// Judges a frame record. Frames without a number are taken unjudged.
  Verdict judge(const RecordInfo& frame);
  /// An end mark, or the final account (no run key, no expectation). Returns the numbers now missing.
  /// Idempotent; an end without frames does nothing. A mark for another key than the open one does nothing.
  std::uint64_t end(const RecordInfo& mark);
  std::uint64_t end();

  /// Unseen expected numbers still inside the window of the open sequence.
  std::uint64_t open() const;
  bool sequence_open() const { return open_; }

 private:
  void begin(const RecordInfo& frame);
  bool expected(std::uint64_t number) const;

  const SequenceRules rules_;
  std::vector<std::uint64_t> seen_;  // bitmap over number mod window
  bool started_ = false;             // any sequence has ever begun
  bool open_ = false;
  RunKey key_;
  std::array<RunKey, 8> left_keys_{};
  std::size_t left_count_ = 0;
  std::uint64_t first_ = 0;      // first number received: its phase fixes which numbers step expects
  std::uint64_t start_ = 0;      // lowest number expected
  std::uint64_t top_ = 0;        // highest number seen
  std::uint64_t previous_ = 0;   // number of the frame just before
  std::uint64_t taken_ = 0;      // distinct numbers of the sequence
  std::uint64_t missing_ = 0;    // already given up in this sequence
};

}  // namespace pixhist
