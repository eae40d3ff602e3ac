#include "core/ring/record.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <set>
#include <string>

using namespace pixhist;

TEST_CASE("a run key is present for every text and absent by default") {
  CHECK_FALSE(RunKey{}.present());
  CHECK(make_run_key("").present());
  CHECK(make_run_key(std::string(1, '\0')).present());
  CHECK(make_run_key("run_0001").present());
}

TEST_CASE("a run key depends on every byte, their order and their number") {
  CHECK(make_run_key("run_0001") == make_run_key(std::string("run_") + "0001"));
  CHECK(make_run_key("run_0001") != make_run_key("run_0010"));
  CHECK(make_run_key("ab") != make_run_key("ba"));
  CHECK(make_run_key("") != make_run_key(std::string(1, '\0')));
  CHECK(make_run_key(std::string(1, '\0')) != make_run_key(std::string(2, '\0')));
  CHECK(make_run_key("\xff") != make_run_key("\x7f"));
}

TEST_CASE("each half of a run key alone tells many runs apart") {
  std::set<std::uint64_t> first;
  std::set<std::uint64_t> second;
  int same_halves = 0;
  constexpr int runs = 20000;
  for (int run = 0; run < runs; ++run) {
    const RunKey key = make_run_key("/data/p12345/run_" + std::to_string(run));
    first.insert(key.hash[0]);
    second.insert(key.hash[1]);
    same_halves += key.hash[0] == key.hash[1];
  }
  CHECK(first.size() == runs);
  CHECK(second.size() == runs);
  CHECK(same_halves == 0);
}

TEST_CASE("one changed bit of the text changes about half of each half") {
  const RunKey a = make_run_key("run_0001");
  for (std::size_t i = 0; i < 8; ++i) {
    std::string text = "run_0001";
    text[i] = static_cast<char>(text[i] ^ 1);
    const RunKey b = make_run_key(text);
    for (std::size_t half = 0; half < 2; ++half) {
      const int changed = std::popcount(a.hash[half] ^ b.hash[half]);
      CHECK(changed >= 12);
      CHECK(changed <= 52);
    }
  }
}
