#pragma once
// Which frame numbers a run sends, in which order, and what is wrong with each. Pure arithmetic: the same
// settings give the same plan, and nothing is remembered between calls.
//
// A run is a line of positions 0, 1, 2, ...; position p is frame number first + p. Step s of sending takes
// position_at(s), which is s itself unless neighbours are swapped.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pixhist {

/// Some numbers of a run: every k-th position, or a list of frame numbers. Default: none.
class NumberSelection {
 public:
  NumberSelection() = default;
  static NumberSelection every(std::uint64_t k);

  /// Reads `every:K` (K >= 1: the K-th, 2K-th, ... frame of the run) or a list of frame numbers and closed
  /// ranges, `3,7,10-20`. Throws std::invalid_argument that says what was given and what is allowed.
  static NumberSelection parse(std::string_view text);

  bool contains(std::uint64_t position, std::uint64_t number) const;
  bool empty() const { return every_ == 0 && ranges_.empty(); }
  std::uint64_t period() const { return every_; }  // 0: a list

 private:
  std::uint64_t every_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;  // first and last, both in
};

enum class FrameFault : std::uint8_t {
  none,
  skipped,     // never sent
  bad_header,  // sent with a header that is not JSON
  wrong_size,  // sent with one byte of pixels too few
  duplicated,  // sent twice in a row
};

struct FaultSettings {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> frames;  // numbers in the run; none: until stopped
  NumberSelection skip, bad_header, wrong_size, duplicate;
  std::uint64_t reorder_every = 0;  // k >= 2: the k-th, 2k-th, ... number changes places with its successor
};

class FaultPlan {
 public:
  /// Throws std::invalid_argument if reorder_every is 1 or the numbers would pass 2^64 - 1.
  explicit FaultPlan(FaultSettings settings);

  bool has_step(std::uint64_t step) const { return !settings_.frames || step < *settings_.frames; }
  std::uint64_t position_at(std::uint64_t step) const;
  std::uint64_t number_at(std::uint64_t step) const { return settings_.first + position_at(step); }

  /// Where several selections name one number, the first of the enumeration's order wins.
  FrameFault fault_at(std::uint64_t step) const;

  /// True for the second step of a swap: stopping before it would lose a number that the run has passed.
  bool closes_swap(std::uint64_t step) const { return position_at(step) < step; }

 private:
  bool opens_swap(std::uint64_t step) const;

  FaultSettings settings_;
};

}  // namespace pixhist
