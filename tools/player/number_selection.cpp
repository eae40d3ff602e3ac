#include "tools/player/number_selection.hpp"

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
      "ranges such as 3,7,10-20,500-");
}

std::uint64_t parse_number(std::string_view digits, std::string_view whole) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) refuse(whole);
  return value;
}

std::pair<std::uint64_t, std::uint64_t> parse_range(std::string_view item, std::string_view whole) {
  const auto dash = item.find('-');
  const auto low = parse_number(item.substr(0, dash), whole);
  if (dash == std::string_view::npos) return {low, low};
  if (dash + 1 == item.size()) return {low, std::numeric_limits<std::uint64_t>::max()};
  const auto high = parse_number(item.substr(dash + 1), whole);
  if (high < low) refuse(whole);
  return {low, high};
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
    selection.ranges_.push_back(parse_range(rest.substr(0, comma), text));
    if (comma == std::string_view::npos) return selection;
    rest.remove_prefix(comma + 1);
  }
}

bool NumberSelection::contains(std::uint64_t position, std::uint64_t number) const {
  if (every_ != 0) return position % every_ == every_ - 1;
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [number](const auto& range) { return range.first <= number && number <= range.second; });
}

}  // namespace pixhist
