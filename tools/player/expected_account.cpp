#include "tools/player/expected_account.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace pixhist {

namespace {

constexpr std::size_t keys_remembered = 8;  // a receiver forgets older runs

}  // namespace

AccountNumbers& AccountNumbers::operator+=(const AccountNumbers& other) {
  received += other.received;
  control += other.control;
  for (const auto& [reason, count] : other.rejected) rejected[reason] += count;
  accepted += other.accepted;
  accumulated += other.accumulated;
  duplicate += other.duplicate;
  stale_run += other.stale_run;
  late += other.late;
  missing += other.missing;
  open += other.open;
  restarted += other.restarted;
  inexact.insert(other.inexact.begin(), other.inexact.end());
  return *this;
}

ExpectedAccount::ExpectedAccount(std::uint64_t window) : window_(window) {
  if (window == 0) throw std::invalid_argument("the window is 0; allowed: 1 or more numbers");
}

void ExpectedAccount::rejected(std::string_view reason) {
  ++numbers_.received;
  const auto at = numbers_.rejected.find(reason);
  if (at != numbers_.rejected.end())
    ++at->second;
  else
    numbers_.rejected.emplace(reason, 1);
}

void ExpectedAccount::frame(std::optional<std::string_view> key, std::uint64_t number) {
  ++numbers_.received;
  ++numbers_.accepted;
  if (key != key_ || (!key && !open_)) {
    if (key && std::find(left_.begin(), left_.end(), *key) != left_.end()) {
      ++numbers_.stale_run;
      return;
    }
    begin(key);
  } else if (!key && begins_anew(number)) {
    begin(key);
  }
  previous_ = number;
  if (top_ && number <= *top_ && (number < window_begin(*top_) || seen_.count(number) != 0)) {
    ++numbers_.duplicate;
    return;
  }
  ++taken_;
  ++numbers_.accumulated;
  if (!top_) {
    first_ = top_ = number;
    start_ = number;
    open_ = true;
  } else if (number > *top_) {
    move_top(number);
    open_ = true;
  } else {
    ++numbers_.late;
    if (number >= settled_) start_ = std::min(start_, number);
  }
  seen_.insert(number);
}

bool ExpectedAccount::begins_anew(std::uint64_t number) const {
  return top_ && (number < window_begin(*top_) || (number == first_ && number != previous_));
}

void ExpectedAccount::begin(std::optional<std::string_view> key) {
  if (open_) {
    ++numbers_.restarted;
    end_sequence(0);
  }
  if (key_) {
    left_.push_back(*key_);
    if (left_.size() > keys_remembered) left_.pop_front();
  }
  key_ = key;
  seen_.clear();
  first_.reset();
  top_.reset();
  previous_.reset();
  start_ = settled_ = taken_ = lost_ = given_up_ = 0;
}

void ExpectedAccount::end_mark(std::optional<std::string_view> key, std::optional<std::uint64_t> frames) {
  ++numbers_.control;
  if (open_ && (!key || key == key_)) end_sequence(frames.value_or(0));
}

void ExpectedAccount::end_sequence(std::uint64_t frames) {
  lose(unseen(first_expected(), *top_ + 1));
  if (frames > taken_) give_up_to(frames - taken_);
  settled_ = *top_ + 1;
  open_ = false;
}

void ExpectedAccount::move_top(std::uint64_t number) {
  const auto begin = window_begin(number);
  lose(unseen(first_expected(), begin));
  seen_.erase(seen_.begin(), seen_.lower_bound(begin));
  top_ = number;
}

std::uint64_t ExpectedAccount::window_begin(std::uint64_t top) const {
  return top >= window_ ? top - window_ + 1 : 0;
}

/// Lowest number whose absence has not been decided yet.
std::uint64_t ExpectedAccount::first_expected() const {
  return std::max({start_, settled_, window_begin(*top_)});
}

std::uint64_t ExpectedAccount::unseen(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end) return 0;
  const auto there = std::distance(seen_.lower_bound(begin), seen_.lower_bound(end));
  return end - begin - static_cast<std::uint64_t>(there);
}

void ExpectedAccount::lose(std::uint64_t lost) {
  lost_ += lost;
  give_up_to(lost_);
}

/// What an end mark's total has shown to be missing is not counted again when its numbers are lost.
void ExpectedAccount::give_up_to(std::uint64_t total) {
  if (total <= given_up_) return;
  numbers_.missing += total - given_up_;
  given_up_ = total;
}

AccountNumbers ExpectedAccount::numbers() const {
  auto numbers = numbers_;
  if (open_) numbers.open = unseen(first_expected(), *top_ + 1);
  return numbers;
}

}  // namespace pixhist
