#include "core/batch/sequence_ledger.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace pixhist {
namespace {

constexpr std::uint64_t max_count = std::numeric_limits<std::uint64_t>::max();

std::size_t bitmap_words(std::uint64_t window) {
  return static_cast<std::size_t>(window / 64 + (window % 64 != 0));
}

}  // namespace

SequenceLedger::SequenceLedger(SequenceRules rules) : rules_(rules), seen_(bitmap_words(rules.window)) {
  if (rules.window == 0) throw std::invalid_argument("sequence.window is 0, allowed: at least 1");
}

Verdict SequenceLedger::judge(const RecordInfo& frame) {
  Verdict verdict;
  const bool keyless = !frame.run.present();
  if (frame.run != key_ || (keyless && !open_)) {
    if (has_left(frame.run)) {
      verdict.discard = DiscardReason::stale_run;
      return verdict;
    }
    begin(frame.run, verdict);
  }
  if (!frame.has_number || rules_.step == 0) {
    open_ = true;
    ++taken_;
    return verdict;
  }
  if (keyless && begins_anew(frame.number)) begin(frame.run, verdict);
  judge_number(frame.number, verdict);
  previous_ = frame.number;
  return verdict;
}

std::uint64_t SequenceLedger::end(const RecordInfo& mark) {
  if (!ends(mark)) return 0;
  std::uint64_t missing = give_up(unseen_);
  if (mark.has_expected && mark.expected > taken_) missing += give_up_to(mark.expected - taken_);
  unseen_ = 0;
  if (numbered_) settled_ = top_;
  open_ = false;
  return missing;
}

std::uint64_t SequenceLedger::end() { return end(RecordInfo{}); }

std::optional<std::uint64_t> SequenceLedger::top() const {
  return numbered_ ? std::optional(top_) : std::nullopt;
}

/// The absent key is never left: a frame without key cannot be told to be old.
bool SequenceLedger::has_left(const RunKey& key) const {
  return key.present() && std::find(left_keys_.begin(), left_keys_.end(), key) != left_keys_.end();
}

/// Of a frame without key in an open sequence without key.
bool SequenceLedger::begins_anew(std::uint64_t number) const {
  return numbered_ && (below_window(number) || (number == first_ && previous_ != number));
}

/// Ends the sequence before. `key` is another one, or none; the frame at hand opens what begins here.
void SequenceLedger::begin(const RunKey& key, Verdict& verdict) {
  verdict.restarted = open_;
  verdict.missing += end();
  leave(key_);
  forget_sequence();
  key_ = key;
}

bool SequenceLedger::begins(const RecordInfo& frame) const {
  if (frame.run.present()) return frame.run != key_ && !has_left(frame.run);
  if (key_.present() || !open_) return true;
  return frame.has_number && rules_.step != 0 && begins_anew(frame.number);
}

void SequenceLedger::leave() {
  leave(key_);
  forget_sequence();
  key_ = {};
  open_ = false;
}

void SequenceLedger::leave(const RunKey& key) {
  if (key.present() && !has_left(key)) left_keys_[left_count_++ % left_keys_.size()] = key;
}

void SequenceLedger::forget_sequence() {
  std::fill(seen_.begin(), seen_.end(), 0);
  numbered_ = false;
  unseen_ = 0;
  settled_.reset();
  taken_ = 0;
  lost_numbers_ = 0;
  missing_ = 0;
}

void SequenceLedger::judge_number(std::uint64_t number, Verdict& verdict) {
  if (numbered_ && number <= top_ && (below_window(number) || seen(number))) {
    verdict.discard = DiscardReason::duplicate;
    return;
  }
  ++taken_;
  if (!numbered_) {
    take_first(number);
  } else if (number > top_) {
    verdict.missing += take_above(number);
  } else {
    take_late(number);
    verdict.late = true;
  }
  set_seen(number, true);
}

void SequenceLedger::take_first(std::uint64_t number) {
  numbered_ = true;
  open_ = true;
  first_ = start_ = top_ = number;
}

std::uint64_t SequenceLedger::take_above(std::uint64_t number) {
  const std::uint64_t end = window_begin(number);
  std::uint64_t lost = 0;
  if (end > top_) {  // nothing of the window stays: a walk through a large one would take longer than a frame
    std::fill(seen_.begin(), seen_.end(), 0);
    lost = unseen_ + count_in_phase(top_ + 1, end);
    unseen_ = count_in_phase(end, number);
  } else {
    unseen_ += count_in_phase(top_ + 1, number);
    lost = leave_window(end);
    unseen_ -= lost;
  }
  top_ = number;
  open_ = true;
  return give_up(lost);
}

void SequenceLedger::take_late(std::uint64_t number) {
  if (settled_ && number <= *settled_) return;
  if (number < start_) {
    unseen_ += count_in_phase(number + 1, start_);
    start_ = number;
  } else if (in_phase(number)) {
    --unseen_;
  }
}

/// Clears the window below `end`, which does not lie above the top; returns how many expected numbers are
/// lost.
std::uint64_t SequenceLedger::leave_window(std::uint64_t end) {
  std::uint64_t lost = 0;
  for (std::uint64_t n = window_begin(top_); n < end; ++n) {
    if (!seen(n) && expected(n)) ++lost;
    set_seen(n, false);
  }
  return lost;
}

std::uint64_t SequenceLedger::window_begin(std::uint64_t top) const {
  return top >= rules_.window ? top - rules_.window + 1 : 0;
}

bool SequenceLedger::below_window(std::uint64_t number) const { return number < window_begin(top_); }

bool SequenceLedger::seen(std::uint64_t number) const {
  const std::uint64_t bit = number % rules_.window;
  return (seen_[bit / 64] >> (bit % 64) & 1) != 0;
}

void SequenceLedger::set_seen(std::uint64_t number, bool seen) {
  const std::uint64_t bit = number % rules_.window;
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  seen_[bit / 64] = seen ? seen_[bit / 64] | mask : seen_[bit / 64] & ~mask;
}

bool SequenceLedger::expected(std::uint64_t number) const {
  return number >= start_ && !(settled_ && number <= *settled_) && in_phase(number);
}

bool SequenceLedger::in_phase(std::uint64_t number) const {
  return number % rules_.step == first_ % rules_.step;
}

/// Numbers in phase in [begin, end). No overflow: the range never holds all 2^64 numbers.
std::uint64_t SequenceLedger::count_in_phase(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end) return 0;
  const std::uint64_t phase = first_ % rules_.step;
  const std::uint64_t offset = begin % rules_.step;
  const std::uint64_t to_first = phase >= offset ? phase - offset : rules_.step - (offset - phase);
  return to_first >= end - begin ? 0 : (end - begin - 1 - to_first) / rules_.step + 1;
}

/// Each number is lost once and at least one has come, so their count cannot overflow.
std::uint64_t SequenceLedger::give_up(std::uint64_t numbers) {
  lost_numbers_ += numbers;
  return give_up_to(lost_numbers_);
}

/// Raises the missing of this sequence to `total`, never lowers it; returns by how much.
std::uint64_t SequenceLedger::give_up_to(std::uint64_t total) {
  if (total <= missing_) return 0;
  const std::uint64_t more = std::min(total - missing_, max_count - all_missing_);
  missing_ = total;
  all_missing_ += more;
  return more;
}

}  // namespace pixhist
