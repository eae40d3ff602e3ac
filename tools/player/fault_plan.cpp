#include "tools/player/fault_plan.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

namespace pixhist {

namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw std::invalid_argument(
      "'" + std::string(text) +
      "' is not a selection of frames; allowed: every:K with K >= 1, or frame numbers and "
      "ranges such as 3,7,10-20");
}

std::uint64_t parse_number(std::string_view digits, std::string_view whole) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) refuse(whole);
  return value;
}

}  // namespace

NumberSelection NumberSelection::every(std::uint64_t k) {
  NumberSelection selection;
  selection.every_ = k;
  return selection;
}

NumberSelection NumberSelection::parse(std::string_view text) {
  NumberSelection selection;
  constexpr std::string_view prefix = "every:";
  if (text.substr(0, prefix.size()) == prefix) {
    selection.every_ = parse_number(text.substr(prefix.size()), text);
    if (selection.every_ == 0) refuse(text);
    return selection;
  }
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const auto item = rest.substr(0, comma);
    const auto dash = item.find('-');
    const auto low = parse_number(item.substr(0, dash), text);
    const auto high = dash == std::string_view::npos ? low : parse_number(item.substr(dash + 1), text);
    if (high < low) refuse(text);
    selection.ranges_.emplace_back(low, high);
    if (comma == std::string_view::npos) return selection;
    rest.remove_prefix(comma + 1);
  }
}

bool NumberSelection::contains(std::uint64_t position, std::uint64_t number) const {
  if (every_ != 0) return position % every_ == every_ - 1;
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [number](const auto& range) { return range.first <= number && number <= range.second; });
}

FaultPlan::FaultPlan(FaultSettings settings) : settings_(std::move(settings)) {
  if (settings_.reorder_every == 1) {
    throw std::invalid_argument(
        "reorder every:1 would swap each frame with both neighbours; allowed: every:K with K >= 2");
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
  if (settings_.skip.contains(position, number)) return FrameFault::skipped;
  if (settings_.bad_header.contains(position, number)) return FrameFault::bad_header;
  if (settings_.wrong_size.contains(position, number)) return FrameFault::wrong_size;
  if (settings_.duplicate.contains(position, number)) return FrameFault::duplicated;
  return FrameFault::none;
}

}  // namespace pixhist
