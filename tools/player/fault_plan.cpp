#include "tools/player/fault_plan.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace pixhist {

FaultPlan::FaultPlan(FaultSettings settings) : settings_(std::move(settings)) {
  if (settings_.reorder_every == 1) {
    throw std::invalid_argument(
        "reorder every:1 would swap each frame with both neighbours; allowed: every:K with K >= 2");
  }
  if (settings_.late_by == 0) {
    throw std::invalid_argument("late-by 0 would send late frames in time; allowed: 1 or more");
  }
  const auto frames = settings_.frames.value_or(0);
  if (frames > 0 && frames - 1 > std::numeric_limits<std::uint64_t>::max() - settings_.first) {
    throw std::invalid_argument("first " + std::to_string(settings_.first) + " and " +
                                std::to_string(frames) + " frames: the last number would pass 2^64 - 1");
  }
}

bool FaultPlan::opens_swap(std::uint64_t step) const {
  const auto k = settings_.reorder_every;
  return k >= 2 && step % k == k - 1 && has_step(step + 1);
}

std::uint64_t FaultPlan::position_at(std::uint64_t step) const {
  if (opens_swap(step)) return step + 1;
  if (step > 0 && opens_swap(step - 1)) return step - 1;
  return step;
}

FrameFault FaultPlan::fault_at(std::uint64_t step) const {
  const auto position = position_at(step);
  const auto number = settings_.first + position;
  for (std::size_t i = 1; i < frame_fault_count; ++i) {
    if (settings_.selections[i].contains(position, number)) return static_cast<FrameFault>(i);
  }
  return FrameFault::none;
}

}  // namespace pixhist
