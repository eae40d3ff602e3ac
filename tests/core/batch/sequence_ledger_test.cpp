// The rules one by one, by hand. sequence_ledger_model_test.cpp compares random streams with a model.
#include "core/batch/sequence_ledger.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

using namespace pixhist;

namespace {

constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();

RecordInfo frame(std::optional<std::uint64_t> number, const char* run = nullptr) {
  RecordInfo info;
  info.has_number = number.has_value();
  info.number = number.value_or(0);
  if (run != nullptr) info.run = make_run_key(run);
  return info;
}

RecordInfo mark(std::optional<std::uint64_t> expected, const char* run = nullptr) {
  RecordInfo info;
  info.kind = RecordKind::run_end;
  info.has_expected = expected.has_value();
  info.expected = expected.value_or(0);
  if (run != nullptr) info.run = make_run_key(run);
  return info;
}

constexpr Verdict taken{};
constexpr Verdict late{std::nullopt, true, false, 0};
constexpr Verdict duplicate{DiscardReason::duplicate, false, false, 0};
constexpr Verdict stale{DiscardReason::stale_run, false, false, 0};
constexpr Verdict losing(std::uint64_t n) { return {std::nullopt, false, false, n}; }
constexpr Verdict restarting(std::uint64_t missing = 0) { return {std::nullopt, false, true, missing}; }

void take_all(SequenceLedger& ledger, std::initializer_list<std::uint64_t> numbers,
              const char* run = nullptr) {
  for (const std::uint64_t number : numbers) {
    CAPTURE(number);
    CHECK(ledger.judge(frame(number, run)) == taken);
  }
}

}  // namespace

TEST_CASE("a window of no numbers is refused") {
  CHECK_THROWS_AS(SequenceLedger({0, 1}), std::invalid_argument);
}

TEST_CASE("numbers in order are taken and nothing is open") {
  SequenceLedger ledger({16, 1});
  CHECK_FALSE(ledger.sequence_open());
  CHECK_FALSE(ledger.top());
  take_all(ledger, {5, 6, 7, 8});
  CHECK(ledger.sequence_open());
  CHECK(ledger.top() == 8);
  CHECK(ledger.open() == 0);
  CHECK(ledger.end() == 0);
  CHECK_FALSE(ledger.sequence_open());
  CHECK(ledger.top() == 8);
}

TEST_CASE("a gap is open until it is filled late, leaves the window or the sequence ends") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {10, 13, 15});
  CHECK(ledger.open() == 3);  // 11 12 14
  CHECK(ledger.judge(frame(12)) == late);
  CHECK(ledger.open() == 2);
  CHECK(ledger.judge(frame(12)) == duplicate);
  CHECK(ledger.judge(frame(18)) == taken);  // window 11..18
  CHECK(ledger.open() == 4);                // 11 14 16 17
  CHECK(ledger.judge(frame(19)) == losing(1));
  CHECK(ledger.open() == 3);
  CHECK(ledger.end() == 3);
  CHECK(ledger.open() == 0);
  CHECK(ledger.end() == 0);
}

TEST_CASE("a lower number inside the window is late and the sequence starts there") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {20});
  CHECK(ledger.judge(frame(16)) == late);
  CHECK(ledger.open() == 3);  // 17 18 19
  CHECK(ledger.judge(frame(18)) == late);
  CHECK(ledger.open() == 2);
  CHECK(ledger.judge(frame(16)) == duplicate);
  CHECK(ledger.judge(frame(13)) == late);
  CHECK(ledger.open() == 4);  // 14 15 17 19
  CHECK(ledger.judge(frame(22)) == losing(1));
  CHECK(ledger.end() == 4);
}

TEST_CASE("numbers before the first one are never missing") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {1000, 1001});
  CHECK(ledger.open() == 0);
  CHECK(ledger.judge(frame(1010)) == losing(1));  // window 1003..1010, 1002 left it
  CHECK(ledger.end() == 7);
}

TEST_CASE("a jump beyond the window loses the window and the way there") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {0, 1, 3});
  CHECK(ledger.judge(frame(100)) == losing(1 + 89));  // 2, 4..92; window 93..100
  CHECK(ledger.open() == 7);
  CHECK(ledger.judge(frame(93)) == late);
  CHECK(ledger.end() == 6);
}

TEST_CASE("a window of one number gives up at once and knows the top only") {
  SequenceLedger ledger({1, 1});
  take_all(ledger, {4, 5}, "a");
  CHECK(ledger.judge(frame(5, "a")) == duplicate);
  CHECK(ledger.judge(frame(4, "a")) == duplicate);
  CHECK(ledger.judge(frame(8, "a")) == losing(2));
  CHECK(ledger.open() == 0);
  CHECK(ledger.end() == 0);
}

TEST_CASE("with step n only every n-th number from the first is expected") {
  SequenceLedger ledger({8, 4});
  take_all(ledger, {2, 6, 14});
  CHECK(ledger.open() == 1);  // 10
  CHECK(ledger.judge(frame(11)) == late);
  CHECK(ledger.open() == 1);
  CHECK(ledger.judge(frame(11)) == duplicate);
  CHECK(ledger.judge(frame(17)) == taken);      // window 10..17
  CHECK(ledger.judge(frame(18)) == losing(1));  // 10
  CHECK(ledger.judge(frame(31)) == losing(1));  // 22; window 24..31
  CHECK(ledger.open() == 2);
}

TEST_CASE("with step n the numbers below a lowered start keep the phase of the first") {
  SequenceLedger ledger({32, 4});
  take_all(ledger, {20});
  CHECK(ledger.judge(frame(7)) == late);
  CHECK(ledger.open() == 3);  // 8 12 16
  CHECK(ledger.judge(frame(8)) == late);
  CHECK(ledger.end() == 2);
}

TEST_CASE("numbers near 0: the window never reaches below") {
  SequenceLedger ledger({16, 1});
  take_all(ledger, {2});
  CHECK(ledger.judge(frame(0)) == late);
  CHECK(ledger.open() == 1);
  take_all(ledger, {15});
  CHECK(ledger.judge(frame(1)) == late);
  CHECK(ledger.judge(frame(0)).restarted == false);
  CHECK(ledger.judge(frame(16)) == taken);
  CHECK(ledger.judge(frame(20)) == losing(2));  // 3, 4
}

TEST_CASE("numbers up to 2^64 - 1") {
  SequenceLedger ledger({4, 1});
  take_all(ledger, {max_number - 6, max_number - 5}, "a");
  CHECK(ledger.judge(frame(max_number, "a")) == losing(1));
  CHECK(ledger.open() == 3);
  CHECK(ledger.judge(frame(max_number - 2, "a")) == late);
  CHECK(ledger.judge(frame(max_number, "a")) == duplicate);
  CHECK(ledger.judge(frame(0, "a")) == duplicate);
  CHECK(ledger.end() == 2);
  CHECK(ledger.judge(frame(max_number - 1, "a")) == late);
  CHECK(ledger.judge(frame(max_number, "a")) == duplicate);
  CHECK_FALSE(ledger.sequence_open());
}

TEST_CASE("jumps of 2^63 and more are counted, not walked") {
  SequenceLedger ledger({1024, 1});
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  take_all(ledger, {0}, "a");
  CHECK(ledger.judge(frame(half, "a")) == losing(half - 1024));
  CHECK(ledger.open() == 1023);
  CHECK(ledger.judge(frame(max_number, "a")) == losing(half - 2));
  CHECK(ledger.end() == 1023);

  SequenceLedger stepped({1024, max_number});
  take_all(stepped, {0, max_number}, "a");
  CHECK(stepped.end() == 0);

  SequenceLedger even({1, 2});
  take_all(even, {0}, "a");
  CHECK(even.judge(frame(max_number, "a")) == losing(half - 1));
}

TEST_CASE("the sum of all missing saturates instead of falling") {
  SequenceLedger ledger({1, 1});
  CHECK(ledger.judge(frame(0, "a")) == taken);
  CHECK(ledger.judge(frame(max_number, "a")) == losing(max_number - 1));
  CHECK(ledger.judge(frame(0, "b")) == restarting());
  CHECK(ledger.judge(frame(max_number, "b")) == losing(1));
  CHECK(ledger.judge(frame(0, "c")) == restarting());
  CHECK(ledger.judge(frame(max_number, "c")) == taken);
}

TEST_CASE("only a new key begins a sequence of keyed frames; no gap across it") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {10, 12}, "a");
  CHECK(ledger.judge(frame(50, "b")) == restarting(1));
  CHECK(ledger.open() == 0);
  CHECK(ledger.judge(frame(50, "b")) == duplicate);
  CHECK(ledger.judge(frame(3, "b")) == duplicate);
  CHECK(ledger.judge(frame(51, "b")) == taken);
  CHECK(ledger.judge(frame(50, "b")) == duplicate);
  CHECK(ledger.judge(frame(10, "c")) == restarting());
}

TEST_CASE("the last eight keys left are stale, an older one is new again") {
  SequenceLedger ledger({8, 1});
  CHECK(ledger.judge(frame(0, "run 0")) == taken);
  for (int run = 1; run <= 8; ++run)
    CHECK(ledger.judge(frame(0, ("run " + std::to_string(run)).c_str())) == restarting());
  for (int run = 0; run <= 7; ++run)
    CHECK(ledger.judge(frame(1, ("run " + std::to_string(run)).c_str())) == stale);
  CHECK(ledger.judge(frame(1, "run 8")) == taken);
  CHECK(ledger.judge(frame(0, "run 9")) == restarting());
  CHECK(ledger.judge(frame(0, "run 1")) == stale);
  CHECK(ledger.judge(frame(0, "run 0")) == restarting());
  CHECK(ledger.judge(frame(0, "run 1")) == restarting());
}

TEST_CASE("a key left by its end mark is stale once the next one has come, and that is no restart") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {0, 1}, "a");
  CHECK(ledger.end(mark(2, "a")) == 0);
  CHECK(ledger.judge(frame(0, "b")) == taken);
  CHECK(ledger.judge(frame(2, "a")) == stale);
  CHECK(ledger.judge(frame(1, "b")) == taken);
}

TEST_CASE("after an end mark frames of the same key stay in the same window") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {0, 2, 5}, "a");
  CHECK(ledger.end(mark(std::nullopt, "a")) == 3);  // 1 3 4
  CHECK(ledger.judge(frame(2, "a")) == duplicate);
  CHECK(ledger.judge(frame(3, "a")) == late);
  CHECK(ledger.judge(frame(3, "a")) == duplicate);
  CHECK_FALSE(ledger.sequence_open());
  CHECK(ledger.open() == 0);
  CHECK(ledger.end(mark(std::nullopt, "a")) == 0);

  CHECK(ledger.judge(frame(7, "a")) == taken);
  CHECK(ledger.sequence_open());
  CHECK(ledger.open() == 1);                         // 6; 1 and 4 were given up at the mark
  CHECK(ledger.judge(frame(14, "a")) == losing(1));  // window 7..14, 6 left it
  CHECK(ledger.open() == 6);
  CHECK(ledger.end(mark(std::nullopt, "a")) == 6);
}

TEST_CASE("a late frame after the mark does not lower the start") {
  SequenceLedger ledger({16, 1});
  take_all(ledger, {10}, "a");
  CHECK(ledger.end(mark(std::nullopt, "a")) == 0);
  CHECK(ledger.judge(frame(5, "a")) == late);
  CHECK(ledger.open() == 0);
  take_all(ledger, {11}, "a");
  CHECK(ledger.end() == 0);
}

TEST_CASE("an end mark of another key, or without an open sequence, does nothing") {
  SequenceLedger ledger({8, 1});
  CHECK(ledger.end(mark(100, "a")) == 0);
  CHECK(ledger.end(mark(100)) == 0);
  take_all(ledger, {0, 2}, "a");
  CHECK(ledger.end(mark(100, "b")) == 0);
  CHECK(ledger.sequence_open());
  CHECK(ledger.end(mark(std::nullopt)) == 1);
  CHECK(ledger.end(mark(100)) == 0);
  CHECK(ledger.end(mark(100, "a")) == 0);

  SequenceLedger keyless({8, 1});
  take_all(keyless, {0, 2});
  CHECK(keyless.end(mark(100, "a")) == 0);
  CHECK(keyless.sequence_open());
}

TEST_CASE("where the stream says how many frames there were, lost heads and tails are missing") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {3, 4, 6}, "a");
  CHECK(ledger.end(mark(10, "a")) == 7);
  CHECK(ledger.judge(frame(5, "a")) == late);
  CHECK(ledger.end(mark(10, "a")) == 0);
}

TEST_CASE("an expectation never lowers what is missing") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {0, 5}, "a");
  CHECK(ledger.end(mark(3, "a")) == 4);
}

TEST_CASE("frames that come after a mark which gave up the tail are not missed twice") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {0, 1}, "a");
  CHECK(ledger.end(mark(10, "a")) == 8);  // 2..9
  CHECK(ledger.judge(frame(5, "a")) == taken);
  CHECK(ledger.open() == 3);
  CHECK(ledger.judge(frame(9, "a")) == taken);
  CHECK(ledger.judge(frame(12, "a")) == taken);  // 2 3 4 left the window
  CHECK(ledger.end(mark(10, "a")) == 0);
  CHECK(ledger.judge(frame(20, "a")) == taken);      // 8 lost by number, 8 already given up
  CHECK(ledger.judge(frame(21, "a")) == losing(1));  // 13 as the ninth
}

TEST_CASE("an expectation of 2^64 - 1 saturates") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {0}, "a");
  CHECK(ledger.end(mark(max_number, "a")) == max_number - 1);
  CHECK(ledger.judge(frame(0, "b")) == taken);
  CHECK(ledger.end(mark(max_number, "b")) == 1);
}

TEST_CASE("without a key a number below the window begins a sequence") {
  SequenceLedger ledger({8, 1});
  take_all(ledger, {100, 101, 103});
  CHECK(ledger.judge(frame(95)) == restarting(1));
  CHECK(ledger.open() == 0);
  CHECK(ledger.judge(frame(96)) == taken);
  CHECK(ledger.top() == 96);
}

TEST_CASE("without a key the first number again begins a sequence, unless it repeats the one just before") {
  SequenceLedger ledger({64, 1});
  take_all(ledger, {5});
  CHECK(ledger.judge(frame(5)) == duplicate);
  CHECK(ledger.judge(frame(5)) == duplicate);
  take_all(ledger, {6, 8});
  CHECK(ledger.judge(frame(5)) == restarting(1));
  CHECK(ledger.judge(frame(5)) == duplicate);
  take_all(ledger, {6});
  CHECK(ledger.judge(frame(6)) == duplicate);
  CHECK(ledger.judge(frame(4)) == late);
  CHECK(ledger.judge(frame(5)) == restarting());
}

TEST_CASE("without a key any frame after an end mark begins a sequence, and that is no restart") {
  SequenceLedger ledger({64, 1});
  take_all(ledger, {5, 7});
  CHECK(ledger.end(mark(std::nullopt)) == 1);
  take_all(ledger, {7});
  CHECK(ledger.open() == 0);
  CHECK(ledger.end(mark(4)) == 3);
  take_all(ledger, {6});
}

TEST_CASE("with and without a key are different sequences") {
  SequenceLedger ledger({64, 1});
  take_all(ledger, {5, 7});
  CHECK(ledger.judge(frame(6, "a")) == restarting(1));
  CHECK(ledger.judge(frame(8)) == restarting());
  CHECK(ledger.judge(frame(7, "a")) == stale);
  CHECK(ledger.judge(frame(9)) == taken);
  CHECK(ledger.judge(frame(9, "b")) == restarting());
  // The absent key is never stale: nothing says that such a frame is old.
  CHECK(ledger.judge(frame(9)) == restarting());
}

TEST_CASE("frames without number are taken; their keys begin sequences and go stale all the same") {
  SequenceLedger ledger({8, 1});
  CHECK(ledger.judge(frame(std::nullopt, "a")) == taken);
  CHECK(ledger.judge(frame(std::nullopt, "a")) == taken);
  CHECK_FALSE(ledger.top());
  CHECK(ledger.judge(frame(3, "a")) == taken);
  CHECK(ledger.judge(frame(5, "a")) == taken);
  CHECK(ledger.judge(frame(std::nullopt, "b")) == restarting(1));
  CHECK(ledger.judge(frame(std::nullopt, "a")) == stale);
  CHECK(ledger.judge(frame(std::nullopt)) == restarting());
  CHECK(ledger.judge(frame(std::nullopt)) == taken);
  CHECK(ledger.open() == 0);
}

TEST_CASE("step 0 judges no number, but keys and expectations") {
  SequenceLedger ledger({8, 0});
  for (const std::uint64_t number : {7, 7, 1, 1000, 7}) CHECK(ledger.judge(frame(number)) == taken);
  CHECK(ledger.open() == 0);
  CHECK(ledger.judge(frame(7, "a")) == restarting());
  CHECK(ledger.judge(frame(7, "a")) == taken);
  CHECK(ledger.end(mark(5, "a")) == 3);
  CHECK(ledger.judge(frame(8, "a")) == taken);
  CHECK(ledger.end(mark(5, "a")) == 0);
  CHECK(ledger.judge(frame(0, "b")) == taken);
  CHECK(ledger.judge(frame(0, "a")) == stale);
}
