#include "tools/player/expected_account.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <stdexcept>

namespace pixhist {
namespace {

// Facts worked out by hand from docs/architecture.md, "The account".

AccountNumbers after(ExpectedAccount& account, std::optional<std::string_view> key,
                     std::initializer_list<std::uint64_t> numbers) {
  for (const auto number : numbers) account.frame(key, number);
  return account.numbers();
}

TEST_CASE("a gap is open inside the window and missing behind it") {
  ExpectedAccount account(4);
  CHECK(after(account, "a", {0, 2}).open == 1);
  CHECK(account.numbers().missing == 0);
  const auto now = after(account, "a", {3, 4, 5});  // window: 2 to 5
  CHECK(now.open == 0);
  CHECK(now.missing == 1);
  CHECK(now.accumulated == 5);
}

TEST_CASE("a late number is taken once, and a lower one moves the start down") {
  ExpectedAccount account(8);
  auto now = after(account, "a", {5, 7, 6, 6, 3});
  CHECK(now.late == 2);
  CHECK(now.duplicate == 1);
  CHECK(now.open == 1);  // 4
  account.end_mark("a", std::nullopt);
  CHECK(account.numbers().missing == 1);
  CHECK(account.numbers().open == 0);
}

TEST_CASE("with a key a number below the window is a duplicate, without one it begins anew") {
  ExpectedAccount keyed(4);
  CHECK(after(keyed, "a", {10, 20, 11}).duplicate == 1);
  CHECK(keyed.numbers().missing == 6);  // 11 to 16; 17 to 19 are open
  CHECK(keyed.numbers().open == 3);
  ExpectedAccount keyless(4);
  const auto now = after(keyless, std::nullopt, {10, 20, 11});
  CHECK(now.restarted == 1);
  CHECK(now.duplicate == 0);
  CHECK(now.missing == 9);
}

TEST_CASE("without a key the first number again begins anew, unless it repeats the one just before") {
  ExpectedAccount account(100);
  CHECK(after(account, std::nullopt, {5, 5}).duplicate == 1);
  CHECK(account.numbers().restarted == 0);
  CHECK(after(account, std::nullopt, {6, 5}).restarted == 1);
}

TEST_CASE("an end mark says what the run should have had, idempotently, and only of its own run") {
  ExpectedAccount account(100);
  after(account, "a", {2, 3, 5});
  account.end_mark("b", 10);
  CHECK(account.numbers().missing == 0);
  account.end_mark("a", 10);
  account.end_mark("a", 10);
  CHECK(account.numbers().missing == 7);
  CHECK(account.numbers().control == 3);
  const auto now = after(account, "a", {4, 6, 8});  // what was given up is not given up again
  CHECK(now.late == 1);
  CHECK(now.missing == 7);
  CHECK(now.open == 1);
}

TEST_CASE("a run that was left is stale, the ninth before is forgotten") {
  ExpectedAccount account(100);
  const std::string names = "abcdefghij";
  for (std::size_t i = 0; i < names.size(); ++i) account.frame(names.substr(i, 1), 1);
  CHECK(account.numbers().restarted == 9);
  account.frame("b", 2);
  CHECK(account.numbers().stale_run == 1);
  account.frame("a", 2);
  CHECK(account.numbers().stale_run == 1);
  CHECK(account.numbers().restarted == 10);
}

TEST_CASE("rejections are counted by reason, and accounts add up") {
  ExpectedAccount account(100);
  account.rejected("size");
  account.rejected("size");
  account.rejected("parts");
  account.frame("a", 1);
  account.inexact("because");
  auto sum = account.numbers();
  sum += account.numbers();
  CHECK(sum.received == 8);
  CHECK(sum.rejected.at("size") == 4);
  CHECK(sum.accepted == 2);
  CHECK(sum.inexact.size() == 1);
  CHECK_THROWS_AS(ExpectedAccount(0), std::invalid_argument);
}

}  // namespace
}  // namespace pixhist
