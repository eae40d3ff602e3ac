#pragma once
// What a receiver that loses nothing must say about the messages that were sent to it, told in the order of
// sending. Written from the description of the account (docs/architecture.md), apart from the service's own
// ledger, so that a test can compare the two.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace pixhist {

/// Names as in a source's account in the service's status. received = accepted + all of rejected;
/// accepted = accumulated + duplicate + stale_run.
struct AccountNumbers {
  std::uint64_t received = 0;
  std::uint64_t control = 0;
  std::map<std::string, std::uint64_t, std::less<>> rejected;  // by reason
  std::uint64_t accepted = 0;
  std::uint64_t accumulated = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t stale_run = 0;
  std::uint64_t late = 0;
  std::uint64_t missing = 0;
  std::uint64_t open = 0;  // become missing when the receiver ends
  std::uint64_t restarted = 0;
  /// Why the numbers need not be met to the frame; empty: they must be.
  std::set<std::string> inexact;

  AccountNumbers& operator+=(const AccountNumbers& other);
};

class ExpectedAccount {
 public:
  /// `window`: the receiver's sequence.window, at least 1; its sequence.step must be 1.
  explicit ExpectedAccount(std::uint64_t window);

  /// A good frame. `key` names its run; none: the stream names no runs.
  void frame(std::optional<std::string_view> key, std::uint64_t number);
  void rejected(std::string_view reason);
  /// An end mark of the run `key` (none: of whichever is open), with the length of the run if it says so.
  void end_mark(std::optional<std::string_view> key, std::optional<std::uint64_t> frames);
  void inexact(std::string why) { numbers_.inexact.insert(std::move(why)); }

  AccountNumbers numbers() const;

 private:
  using Numbers = std::set<std::uint64_t>;
  using Key = std::optional<std::string>;

  bool begins_anew(std::uint64_t number) const;
  void begin(std::optional<std::string_view> key);
  void end_sequence(std::uint64_t frames);
  void move_top(std::uint64_t number);
  std::uint64_t window_begin(std::uint64_t top) const;
  std::uint64_t unseen(std::uint64_t begin, std::uint64_t end) const;
  std::uint64_t first_expected() const;
  void lose(std::uint64_t lost);
  void give_up_to(std::uint64_t total);

  std::uint64_t window_;
  AccountNumbers numbers_;
  std::deque<std::string> left_;  // keys of the last runs that were left

  Key key_;
  bool open_ = false;
  Numbers seen_;  // of this sequence, inside the window
  std::optional<std::uint64_t> first_, top_, previous_;
  std::uint64_t start_ = 0;                // lowest number that counts
  std::uint64_t settled_ = 0;              // numbers below are accounted for by an end mark
  std::uint64_t taken_ = 0;                // of this sequence
  std::uint64_t lost_ = 0, given_up_ = 0;  // of this sequence
};

}  // namespace pixhist
