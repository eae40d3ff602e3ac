#pragma once
// Which frame numbers a run sends, in which order, and what is wrong with each. Pure arithmetic: the same
// settings give the same plan, and nothing is remembered between calls.
//
// A run is a line of positions 0, 1, 2, ...; position p is frame number first + p. Step s of sending takes
// position_at(s), which is s itself unless neighbours are swapped.

#include <array>
#include <cstdint>
#include <optional>

#include "tools/player/frame_fault.hpp"
#include "tools/player/number_selection.hpp"

namespace pixhist {

struct FaultSettings {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> frames;  // numbers in the run; none: until stopped
  std::array<NumberSelection, frame_fault_count> selections;
  std::uint64_t reorder_every = 0;  // k >= 2: the k-th, 2k-th, ... number changes places with its successor
  std::uint64_t late_by = 10;       // steps that a late frame is held back, at least 1

  NumberSelection& of(FrameFault fault) { return selections[static_cast<std::size_t>(fault)]; }
  const NumberSelection& of(FrameFault fault) const { return selections[static_cast<std::size_t>(fault)]; }
};

class FaultPlan {
 public:
  /// Throws std::invalid_argument if reorder_every is 1, late_by is 0 or the numbers would pass 2^64 - 1.
  explicit FaultPlan(FaultSettings settings);

  bool has_step(std::uint64_t step) const { return !settings_.frames || step < *settings_.frames; }
  std::uint64_t position_at(std::uint64_t step) const;
  std::uint64_t number_at(std::uint64_t step) const { return settings_.first + position_at(step); }
  FrameFault fault_at(std::uint64_t step) const;

  /// True for the second step of a swap: stopping before it would lose a number that the run has passed.
  bool closes_swap(std::uint64_t step) const { return position_at(step) < step; }

 private:
  bool opens_swap(std::uint64_t step) const;

  FaultSettings settings_;
};

}  // namespace pixhist
