#pragma once
// Judges the frames of one source: late, duplicate, stale run, missing, restarted (docs/architecture.md, "The
// account"). The window is the last `window` numbers up to the top (highest) one, kept as a bitmap. A number
// is given up (missing) once, when the window has left it or the sequence ends; `missing` never falls.
//
// A sequence begins at its first number; the rest of a window:
//   above the top: taken            unseen inside: taken, late (below the start: the sequence starts there)
//   seen: duplicate                 below the window: duplicate, or without a key a new sequence
// Key rules come first and hold for frames without number, too. A frame with a key begins a sequence if the
// key is neither the current one (duplicates and late frames after an end mark stay in its window) nor one of
// the last 8 left (stale_run). A frame without key begins one if the current sequence has a key or is ended,
// if its number is below the window, or is the first number again and does not repeat the number just before.
// Owned by the submit thread; no locks, no allocation after construction.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/frame_fate.hpp"
#include "core/ring/record.hpp"

namespace pixhist {

struct SequenceRules {
  std::uint64_t window = 1024;  // numbers, at least 1
  /// Numbers first, first ± step, … are expected; others are taken but never missing. 0: numbers are not
  /// judged.
  std::uint64_t step = 1;
};

/// What judging one frame found. missing counts numbers given up because of this frame.
struct Verdict {
  std::optional<DiscardReason> discard;  // duplicate or stale_run: not to be binned
  bool late = false;
  bool restarted = false;  // this frame began a sequence while one was open
  std::uint64_t missing = 0;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

class SequenceLedger {
 public:
  /// Throws std::invalid_argument if rules.window is 0.
  explicit SequenceLedger(SequenceRules rules);

  /// Judges a frame record. One without a number is taken, unless its key is stale.
  Verdict judge(const RecordInfo& frame);

  /// An end mark: ends the open sequence if the mark has its key or none. Returns the numbers now missing:
  /// the unseen ones in the window and, if the mark says how many frames there were, more until frames taken
  /// (with or without number) and missing make up that many: lost heads and tails. What was given up is never
  /// given up again, whatever comes later. Idempotent; does nothing without an open sequence.
  std::uint64_t end(const RecordInfo& mark);
  /// The final account: an end mark without key or expectation.
  std::uint64_t end();
  /// Whether end(mark) would end the open sequence.
  bool ends(const RecordInfo& mark) const { return open_ && (!mark.run.present() || mark.run == key_); }

  /// Whether judge(frame) would begin a sequence; not of a frame that is stale.
  bool begins(const RecordInfo& frame) const;
  /// Leaves the current sequence, which has ended: frames with its key are stale_run from here on.
  void leave();
  /// Frames with this key are stale_run from here on, as if a sequence of this name had been here.
  void leave(const RunKey& key);
  /// One of the last 8 keys left.
  bool has_left(const RunKey& key) const;
  /// Key of the current sequence, open or ended.
  const RunKey& key() const { return key_; }

  /// A gauge: unseen expected numbers still inside the window of the open sequence.
  std::uint64_t open() const { return unseen_; }
  bool sequence_open() const { return open_; }
  /// Highest number of the current sequence, open or ended; nothing before its first judged number.
  std::optional<std::uint64_t> top() const;

 private:
  bool begins_anew(std::uint64_t number) const;
  void begin(const RunKey& key, Verdict& verdict);
  void forget_sequence();
  void judge_number(std::uint64_t number, Verdict& verdict);
  void take_first(std::uint64_t number);
  std::uint64_t take_above(std::uint64_t number);
  void take_late(std::uint64_t number);
  std::uint64_t leave_window(std::uint64_t end);

  std::uint64_t window_begin(std::uint64_t top) const;
  bool below_window(std::uint64_t number) const;
  bool seen(std::uint64_t number) const;
  void set_seen(std::uint64_t number, bool seen);
  bool expected(std::uint64_t number) const;
  bool in_phase(std::uint64_t number) const;
  std::uint64_t count_in_phase(std::uint64_t begin, std::uint64_t end) const;
  std::uint64_t give_up_to(std::uint64_t total);
  std::uint64_t give_up(std::uint64_t numbers);

  const SequenceRules rules_;
  std::vector<std::uint64_t> seen_;  // bitmap over number mod window; clear outside the window
  std::uint64_t all_missing_ =
      0;  // of all sequences; saturates, so that the sum of what is returned cannot wrap

  // The runs left, as a ring: the next one goes to left_count_ mod 8.
  std::array<RunKey, 8> left_keys_{};
  std::uint64_t left_count_ = 0;

  // The current sequence.
  RunKey key_;
  bool open_ = false;
  bool numbered_ = false;                 // a number has been judged: the members below mean something
  std::uint64_t first_ = 0;               // first number received: its phase fixes which numbers step expects
  std::uint64_t start_ = 0;               // lowest number expected
  std::uint64_t top_ = 0;                 // highest number seen
  std::uint64_t previous_ = 0;            // the number judged last, whatever its fate
  std::optional<std::uint64_t> settled_;  // numbers up to here were accounted for by an end mark
  std::uint64_t unseen_ = 0;              // expected numbers in the window that have not come
  // These count without numbers, too.
  std::uint64_t taken_ = 0;         // frames taken
  std::uint64_t lost_numbers_ = 0;  // numbers that left the window or the sequence unseen
  std::uint64_t missing_ = 0;       // given up: the lost numbers, or more where a mark said so
};

}  // namespace pixhist
