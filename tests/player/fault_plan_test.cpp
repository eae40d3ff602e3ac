#include "tools/player/fault_plan.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <stdexcept>

namespace pixhist {
namespace {

std::vector<std::uint64_t> numbers_of(const FaultPlan& plan, std::uint64_t limit = 1000) {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t s = 0; s < limit && plan.has_step(s); ++s) numbers.push_back(plan.number_at(s));
  return numbers;
}

FaultSettings run_of(std::uint64_t frames, std::uint64_t first = 0) {
  FaultSettings settings;
  settings.first = first;
  settings.frames = frames;
  return settings;
}

TEST_CASE("a run without faults counts up from its first number") {
  CHECK(numbers_of(FaultPlan(run_of(4, 100))) == std::vector<std::uint64_t>{100, 101, 102, 103});
  CHECK(numbers_of(FaultPlan(run_of(0))).empty());
  CHECK(FaultPlan(FaultSettings{}).has_step(1ULL << 60));
}

TEST_CASE("reorder swaps each k-th number with the next, loses none, and leaves the last alone") {
  auto settings = run_of(8, 10);
  settings.reorder_every = 3;
  CHECK(numbers_of(FaultPlan(settings)) == std::vector<std::uint64_t>{10, 11, 13, 12, 14, 16, 15, 17});
  settings.reorder_every = 2;
  CHECK(numbers_of(FaultPlan(settings)) == std::vector<std::uint64_t>{10, 12, 11, 14, 13, 16, 15, 17});

  for (const std::uint64_t k : {2, 3, 5, 7}) {
    for (const std::uint64_t n : {1, 2, 3, 14, 15, 16}) {
      auto s = run_of(n, 5);
      s.reorder_every = k;
      const auto numbers = numbers_of(FaultPlan(s));
      const std::set<std::uint64_t> distinct(numbers.begin(), numbers.end());
      CAPTURE(k);
      CAPTURE(n);
      CHECK(numbers.size() == n);
      CHECK(distinct.size() == n);
      CHECK(*distinct.begin() == 5);
      CHECK(*distinct.rbegin() == 4 + n);
    }
  }
}

TEST_CASE("the second half of a swap is known as such") {
  auto settings = run_of(5);
  settings.reorder_every = 2;
  const FaultPlan plan(settings);  // 0 2 1 4 3
  CHECK_FALSE(plan.closes_swap(0));
  CHECK_FALSE(plan.closes_swap(1));
  CHECK(plan.closes_swap(2));
  CHECK_FALSE(plan.closes_swap(3));
  CHECK(plan.closes_swap(4));
}

TEST_CASE("faults fall on the numbers selected, also where neighbours are swapped") {
  auto settings = run_of(12, 100);
  settings.of(FrameFault::skipped) = NumberSelection::parse("103,105-106");
  settings.of(FrameFault::duplicated) = NumberSelection::every(4);  // 103, 107, 111
  settings.of(FrameFault::bad_header) = NumberSelection::parse("102");
  settings.of(FrameFault::wrong_size) = NumberSelection::parse("109");
  settings.reorder_every = 4;
  const FaultPlan plan(settings);
  std::vector<FrameFault> by_number(12, FrameFault::none);
  for (std::uint64_t s = 0; plan.has_step(s); ++s) by_number[plan.number_at(s) - 100] = plan.fault_at(s);
  using F = FrameFault;
  CHECK(by_number == std::vector<F>{F::none, F::none, F::bad_header, F::skipped, F::none, F::skipped,
                                    F::skipped, F::duplicated, F::none, F::wrong_size, F::none,
                                    F::duplicated});
}

TEST_CASE("every:k counts positions of the run, not frame numbers") {
  const auto third = NumberSelection::parse("every:3");
  CHECK_FALSE(third.contains(0, 7));
  CHECK_FALSE(third.contains(1, 8));
  CHECK(third.contains(2, 9));
  CHECK(third.contains(5, 12));
  CHECK(NumberSelection::parse("every:1").contains(0, 7));
}

TEST_CASE("what is no selection is refused, with what was given and what is allowed") {
  for (const char* text : {"", "x", "every:", "every:0", "every:-1", "3,", ",3", "5-3", "1-2-3", "-1", "1.5",
                           " 1", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(NumberSelection::parse(text), std::invalid_argument);
  }
  try {
    NumberSelection::parse("every:0");
    FAIL("not refused");
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    CHECK(message.find("every:0") != std::string::npos);
    CHECK(message.find("K >= 1") != std::string::npos);
  }
}

TEST_CASE("a plan that cannot be is refused") {
  auto settings = run_of(10);
  settings.reorder_every = 1;
  CHECK_THROWS_AS(FaultPlan{settings}, std::invalid_argument);
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  CHECK_THROWS_AS(FaultPlan{run_of(2, last)}, std::invalid_argument);
  CHECK(numbers_of(FaultPlan(run_of(2, last - 1))) == std::vector<std::uint64_t>{last - 1, last});
}

}  // namespace
}  // namespace pixhist
