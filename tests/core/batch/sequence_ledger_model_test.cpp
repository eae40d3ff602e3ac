// Random streams against a naive model: sets of numbers, and everything counted anew after each frame.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "core/batch/sequence_ledger.hpp"

using namespace pixhist;

namespace {

using Number = std::uint64_t;

/// One sequence: what came, what was given up. Numbers are small enough to be walked one by one.
struct ModelSequence {
  int key = 0;  // 0: none
  bool open = true;
  std::set<Number> came;
  std::set<Number> given_up;
  std::optional<Number> first, lowest, closed_to;
  Number last = 0;
  Number frames = 0;
  Number reported = 0;  // missing of this sequence so far

  Number highest() const { return *came.rbegin(); }

  std::set<Number> absent(Number step) const {
    std::set<Number> numbers;
    if (!first) return numbers;
    for (Number n = *lowest; n != highest(); ++n) {
      const Number distance = n > *first ? n - *first : *first - n;
      const bool closed = closed_to && n <= *closed_to;
      if (distance % step == 0 && !closed && !came.count(n) && !given_up.count(n)) numbers.insert(n);
    }
    return numbers;
  }

  Number report(Number total) {
    const Number more = total > reported ? total - reported : 0;
    reported += more;
    return more;
  }
};

struct Model {
  Number window;
  Number step;
  std::optional<ModelSequence> now;
  std::deque<int> left;

  bool in_window(Number n) const { return now->highest() - n < window; }

  Number finish(std::optional<Number> expected) {
    if (!now || !now->open) return 0;
    if (step > 0)
      for (const Number n : now->absent(step)) now->given_up.insert(n);
    Number missing = now->report(now->given_up.size());
    if (expected && *expected > now->frames) missing += now->report(*expected - now->frames);
    now->open = false;
    if (now->first) now->closed_to = now->highest();
    return missing;
  }

  Number end(int key, std::optional<Number> expected) {
    if (now && key != 0 && key != now->key) return 0;
    return finish(expected);
  }

  Number open_numbers() const { return now && now->open && step > 0 ? now->absent(step).size() : 0; }

  void replace(int key, Verdict& verdict) {
    verdict.restarted = now && now->open;
    verdict.missing = finish(std::nullopt);
    if (now && now->key != 0 && now->key != key) {
      left.push_back(now->key);
      if (left.size() > 8) left.pop_front();
    }
    now.emplace();
    now->key = key;
  }

  bool begins_by_number(Number n) const {
    if (!now->first) return false;
    if (n < now->highest() && !in_window(n)) return true;
    return n == *now->first && now->last != n;
  }

  Verdict judge(int key, std::optional<Number> number) {
    Verdict verdict;
    const bool other_key = !now || now->key != key;
    if (other_key && key != 0 && std::find(left.begin(), left.end(), key) != left.end()) {
      verdict.discard = DiscardReason::stale_run;
      return verdict;
    }
    const bool judged = number && step > 0;
    if (other_key || (key == 0 && (!now->open || (judged && begins_by_number(*number)))))
      replace(key, verdict);
    if (!judged) {
      now->open = true;
      ++now->frames;
      return verdict;
    }
    const bool replay =
        now->first && *number <= now->highest() && (!in_window(*number) || now->came.count(*number));
    now->last = *number;
    if (replay) {
      verdict.discard = DiscardReason::duplicate;
      return verdict;
    }
    ++now->frames;
    verdict.late = now->first && *number < now->highest();
    if (!verdict.late) now->open = true;
    if (!now->first) now->first = now->lowest = *number;
    const bool closed = now->closed_to && *number <= *now->closed_to;
    if (!closed) now->lowest = std::min(*now->lowest, *number);
    now->came.insert(*number);
    for (const Number n : now->absent(step))
      if (!in_window(n)) now->given_up.insert(n);
    verdict.missing += now->report(now->given_up.size());
    return verdict;
  }
};

/// What a stream does, in chances of 1000 a step.
struct Habits {
  int gap = 100, reorder = 100, repeat = 50, restart = 10, end = 10, no_number = 0, keyless = 0, old_key = 20;
};

struct Seen {
  std::uint64_t late = 0, duplicate = 0, stale = 0, restarted = 0, missing = 0, ends = 0;
};

struct ModelledStream {
  SequenceLedger ledger;
  Model model;
  Habits habits;
  std::mt19937 random;
  Number origin;  // numbers lie near here
  Number next;
  int key = 1;
  int keys = 1;
  Seen seen;

  ModelledStream(SequenceRules rules, Habits h, Number begin, unsigned seed)
      : ledger(rules),
        model{rules.window, rules.step, {}, {}},
        habits(h),
        random(seed),
        origin(begin),
        next(begin) {}

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }
  bool chance(int in_thousand) { return below(1000) < in_thousand; }

  static RunKey run_key(int k) { return k == 0 ? RunKey{} : make_run_key("run " + std::to_string(k)); }

  void send(int k, std::optional<Number> number) {
    RecordInfo info;
    info.run = run_key(k);
    info.has_number = number.has_value();
    info.number = number.value_or(0);
    const Verdict expected = model.judge(k, number);
    const Verdict verdict = ledger.judge(info);
    CAPTURE(info.number);
    CAPTURE(k);
    REQUIRE(verdict.discard == expected.discard);
    REQUIRE(verdict.late == expected.late);
    REQUIRE(verdict.restarted == expected.restarted);
    REQUIRE(verdict.missing == expected.missing);
    seen.late += verdict.late;
    seen.restarted += verdict.restarted;
    seen.missing += verdict.missing;
    seen.duplicate += verdict.discard == DiscardReason::duplicate;
    seen.stale += verdict.discard == DiscardReason::stale_run;
  }

  void end_mark() {
    RecordInfo info;
    info.kind = RecordKind::run_end;
    const int k = chance(200) ? 0 : std::max(0, key - below(2));
    info.run = run_key(k);
    info.has_expected = chance(500);
    info.expected = static_cast<Number>(below(150));
    const Number missing = ledger.end(info);
    REQUIRE(missing == model.end(k, info.has_expected ? std::optional(info.expected) : std::nullopt));
    seen.missing += missing;
    ++seen.ends;
  }

  void restart() {
    const int sort = below(3);
    if (sort == 0) next = model.now && model.now->first ? *model.now->first : origin;
    if (sort == 1) next = origin + static_cast<Number>(below(40));
    key = chance(habits.keyless) ? 0 : ++keys;
  }

  void step() {
    if (chance(habits.restart)) restart();
    if (chance(habits.end)) end_mark();
    if (chance(habits.gap)) next += static_cast<Number>(below(chance(100) ? 100 : 4));
    if (chance(habits.no_number)) return send(key, std::nullopt);
    if (chance(habits.old_key)) return send(std::max(0, keys - below(12)), next);
    const Number back = static_cast<Number>(below(static_cast<int>(2 * model.window) + 3));
    if (chance(habits.reorder)) return send(key, next - std::min(back, next));
    if (chance(habits.repeat) && next > 0) return send(key, next - 1);
    send(key, next++);
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      CAPTURE(i);
      step();
      REQUIRE(ledger.open() == model.open_numbers());
      REQUIRE(ledger.sequence_open() == (model.now && model.now->open));
      REQUIRE(ledger.top() ==
              (model.now && model.now->first ? std::optional(model.now->highest()) : std::nullopt));
    }
    REQUIRE(ledger.end() == model.end(0, std::nullopt));
    REQUIRE(ledger.open() == 0);
  }
};

constexpr Habits keyed{};
constexpr Habits keyless{100, 100, 50, 10, 10, 0, 1000, 0};
constexpr Habits mixed{100, 150, 50, 20, 30, 100, 400, 30};
constexpr Habits fan_out{50, 300, 100, 5, 60, 0, 0, 0};

}  // namespace

TEST_CASE("random streams are judged as the naive model judges them") {
  Seen all;
  unsigned seed = 1;
  for (const Habits& habits : {keyed, keyless, mixed, fan_out})
    for (const Number window : {1u, 2u, 7u, 64u, 100u})
      for (const Number step : {0u, 1u, 2u, 5u, 200u})
        for (const Number begin : {Number{0}, Number{3}, Number{1000}, Number{1} << 63}) {
          CAPTURE(window);
          CAPTURE(step);
          CAPTURE(begin);
          CAPTURE(seed);
          ModelledStream stream({window, step}, habits, begin, seed++);
          stream.key = habits.keyless == 1000 ? 0 : 1;
          stream.run(500);
          all.late += stream.seen.late;
          all.duplicate += stream.seen.duplicate;
          all.stale += stream.seen.stale;
          all.restarted += stream.seen.restarted;
          all.missing += stream.seen.missing;
          all.ends += stream.seen.ends;
        }
  // The streams must have met what they are there for.
  CHECK(all.late > 1000);
  CHECK(all.duplicate > 1000);
  CHECK(all.stale > 200);
  CHECK(all.restarted > 500);
  CHECK(all.missing > 5000);
  CHECK(all.ends > 1000);
}

TEST_CASE("random streams that end at 2^64 - 1 are judged as the naive model judges them") {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 200; ++round) {
    CAPTURE(round);
    const Number window = 1 + random() % 20;
    const Number step = 1 + random() % 3;
    ModelledStream stream({window, step}, round % 2 == 0 ? keyed : keyless, 0, round);
    for (int i = 0; i < 100; ++i) {
      const Number distance = random() % 60;
      stream.send(round % 2 == 0 ? 1 : 0, ~Number{0} - distance);
      if (random() % 20 == 0) stream.end_mark();
      REQUIRE(stream.ledger.open() == stream.model.open_numbers());
    }
  }
}

TEST_CASE("what is returned as missing adds up to the numbers that never came") {
  std::mt19937 random(3);
  SequenceLedger ledger({32, 1});
  std::set<Number> sent;
  std::uint64_t missing = 0;
  std::uint64_t late = 0;
  constexpr Number frames = 20000;
  std::deque<Number> delayed;
  const auto send = [&](Number n) {
    RecordInfo info;
    info.has_number = true;
    info.number = n;
    info.run = make_run_key("run");
    const Verdict verdict = ledger.judge(info);
    REQUIRE_FALSE(verdict.discard);
    sent.insert(n);
    missing += verdict.missing;
    late += verdict.late;
  };
  send(0);
  for (Number n = 1; n < frames - 1; ++n) {
    const auto fate = random() % 20;
    if (fate == 0) continue;
    if (fate == 1)
      delayed.push_back(n);
    else
      send(n);
    if (!delayed.empty() && n - delayed.front() > 20) {
      send(delayed.front());
      delayed.pop_front();
    }
  }
  for (const Number n : delayed) send(n);
  send(frames - 1);
  missing += ledger.end();
  CHECK(missing == frames - sent.size());
  CHECK(missing > 500);
  CHECK(late > 500);
}
