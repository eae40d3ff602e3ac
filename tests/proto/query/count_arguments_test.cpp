// range, rebin, stat, max_px, since, pause, and what excludes what.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/proto/query/request_support.hpp"

using namespace pixhist;
using test::bad_args;
using test::good_args;
using test::says;

namespace {

constexpr std::string_view since_ops[] = {"values", "spectrum", "image", "moments"};

/// Bin i has its centre at 2 i + 1: 64 bins on [0, 128).
BinRange bins_of(std::string_view range) {
  return good_args("image", R"({"range":)" + std::string(range) + "}").bins;
}

void check_excluded(std::string_view op, std::string_view args, std::string_view says_what) {
  CAPTURE(args);
  const auto error = bad_args(op, args);
  CHECK(error.code == ErrorCode::bad_argument);
  CHECK(says(error, says_what));
}

}  // namespace

TEST_CASE("range: the bins whose centres lie in it, half-open") {
  CHECK(bins_of("[0,128]") == BinRange{0, 64});
  CHECK(bins_of("[-1e300,1e300]") == BinRange{0, 64});
  CHECK(bins_of("[1,3]") == BinRange{0, 1});
  CHECK(bins_of("[1,3.0000001]") == BinRange{0, 2});
  CHECK(bins_of("[1.0000001,3.5]") == BinRange{1, 2});
  CHECK(bins_of("[126,127.5]") == BinRange{63, 64});
  CHECK(bins_of("[127,18446744073709551615]") == BinRange{63, 64});
  CHECK(good_args("moments", R"({"range":[10,20]})").bins == BinRange{5, 10});
  CHECK(good_args("moments", R"({"range":null})").bins == BinRange{0, 64});
}

TEST_CASE("range: without a bin it is bins_out_of_range, saying what bins there are") {
  for (const auto* range : {"[1.1,2.9]", "[-5,1]", "[127.1,1000]", "[-5,-4]", "[128,129]"}) {
    CAPTURE(range);
    const auto error = bad_args("image", R"({"range":)" + std::string(range) + "}");
    CHECK(error.code == ErrorCode::bins_out_of_range);
    CHECK(says(error, "there are 64 bins on [0,128)"));
  }
}

TEST_CASE("range: two numbers that rise, and not together with bins") {
  for (const auto* range : {"[3,3]", "[4,3]", "[1]", "[1,2,3]", "[]", "5", "\"1:2\"", "{}", "[\"1\",2]",
                            "[null,3]", "[[1],[2]]", "[true,3]"}) {
    CAPTURE(range);
    const auto error = bad_args("image", R"({"range":)" + std::string(range) + "}");
    CHECK(error.code == ErrorCode::bad_argument);
    CHECK(says(error, "two numbers [lo,hi) with lo < hi"));
  }
  check_excluded("image", R"({"range":[0,5],"bins":[0,5]})", "bins and range exclude each other");
  CHECK(good_args("image", R"({"range":[0,5],"bins":null})").bins == BinRange{0, 2});
  CHECK(good_args("image", R"({"range":null,"bins":[0,5]})").bins == BinRange{0, 5});
}

TEST_CASE("rebin: a divisor of the bins taken") {
  for (const std::uint32_t rebin : {1U, 2U, 32U, 64U})
    CHECK(good_args("values", R"({"rebin":)" + std::to_string(rebin) + "}").rebin == rebin);
  CHECK(good_args("values", R"({"bins":[3,18],"rebin":5})").rebin == 5);
  CHECK(bad_args("values", R"({"rebin":3})").message == "rebin 3 does not divide the 64 bins taken");
  CHECK(bad_args("values", R"({"bins":[3,17],"rebin":5})").message ==
        "rebin 5 does not divide the 14 bins taken");
  CHECK(bad_args("values", R"({"rebin":128})").code == ErrorCode::bad_argument);
  for (const auto* rebin : {"0", "-1", "1.0", "\"2\"", "[2]", "true", "4294967296", "18446744073709551616"}) {
    CAPTURE(rebin);
    check_excluded("values", R"({"rebin":)" + std::string(rebin) + "}",
                   "`rebin` must be an integer of at least 1");
  }
}

TEST_CASE("stat: six names and no other") {
  for (std::size_t i = 0; i < std::size(statistic_names); ++i) {
    const auto request = good_args("image", R"({"stat":")" + std::string(statistic_names[i]) + "\"}");
    CHECK(request.statistic == static_cast<Statistic>(i));
  }
  for (const auto* stat : {"\"Sum\"", "\"\"", "\"variance\"", "1", "[]", "false"})
    check_excluded("image", R"({"stat":)" + std::string(stat) + "}", "one of sum mean std median mode max");
}

TEST_CASE("max_px: at least one, and not where pixels would have to be combined that cannot be") {
  CHECK(good_args("image", R"({"max_px":1})").max_px == 1);
  CHECK(good_args("image", R"({"max_px":4294967295})").max_px == 4294967295);
  for (const auto* max_px : {"0", "-1", "2.5", "\"9\"", "4294967296"})
    check_excluded("image", R"({"max_px":)" + std::string(max_px) + "}", "an integer of at least 1");
  for (const auto* stat : {"sum", "mean", "std", "max"})
    CHECK(good_args("image", R"({"max_px":3,"stat":")" + std::string(stat) + "\"}").max_px == 3);
  for (const std::string stat : {"median", "mode"}) {
    CHECK(good_args("image", R"({"max_px":12,"stat":")" + stat + "\"}").max_px == 12);
    CHECK(good_args("image", R"({"max_px":3,"roi":[1,4,0,3],"stat":")" + stat + "\"}").max_px == 3);
    check_excluded(
        "image", R"({"max_px":11,"stat":")" + stat + "\"}",
        "the " + stat + " of several pixels is not made of theirs; ask for a roi of at most 11 rows");
  }
}

TEST_CASE("since: a held cut, live or between two held cuts") {
  for (const auto op : since_ops) {
    CHECK(good_args(op, R"({"since":"s1"})").since == "s1");
    CHECK(good_args(op, R"({"since":"s1","snapshot":"s2"})").snapshot == "s2");
    CHECK(good_args(op, R"({"since":"s1","fresh":true})").fresh);
    for (const auto* id : {"\"\"", "1", "[]", "true"})
      check_excluded(op, R"({"since":)" + std::string(id) + "}", "`since` must be the id of a held cut");
  }
  CHECK(good_args("pixel", R"({"row":1,"col":1,"since":"s1"})").since == "s1");
  CHECK(good_args("values", R"({"since":"s1","dtype":"|u1","rebin":4})").dtype == StorageType::u8);
}

TEST_CASE("what excludes what") {
  CHECK(good_args("values", R"({"pause":true})").pause);
  CHECK(good_args("values", R"({"pause":true,"then_reset":true,"fresh":true})").pause);
  check_excluded("values", R"({"pause":0})", "`pause` must be true or false");
  check_excluded("values", R"({"pause":true,"snapshot":"s1"})", "pause and snapshot exclude each other");
  check_excluded("values", R"({"then_reset":true,"rebin":2})", "then_reset needs rebin 1");
  check_excluded("values", R"({"then_reset":true,"since":"s1"})", "then_reset and since exclude each other");
  for (const auto* op : {"spectrum", "image", "moments"})
    check_excluded(op, R"({"fresh":true,"snapshot":"s1"})", "fresh and snapshot exclude each other");
}
