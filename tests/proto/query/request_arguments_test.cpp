#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "proto/query/op_table.hpp"
#include "tests/proto/query/request_support.hpp"

using namespace pixhist;
using test::bad_args;
using test::good_args;
using test::says;

namespace {

constexpr std::string_view region_ops[] = {"values", "snapshot", "spectrum", "image", "moments"};

}  // namespace

TEST_CASE("defaults: everything, <u4, no barrier, from now") {
  for (const auto op : region_ops) {
    const auto request = good_args(op, "{}");
    CHECK(request.roi == Rect{0, 8, 0, 12});
    CHECK(request.bins == BinRange{0, 64});
    CHECK(request.dtype == StorageType::u32);
    CHECK_FALSE(request.fresh);
    CHECK_FALSE(request.then_reset);
    CHECK_FALSE(request.snapshot);
    CHECK_FALSE(request.ttl);
    CHECK_FALSE(request.since);
    CHECK_FALSE(request.pause);
    CHECK_FALSE(request.max_px);
    CHECK(request.rebin == 1);
    CHECK(request.statistic == Statistic::sum);
  }
}

TEST_CASE("null means the default of every argument that has one") {
  const auto request =
      good_args("values", R"({"roi":null,"bins":null,"dtype":null,"fresh":null,"then_reset":null,)"
                          R"("snapshot":null,"rebin":null,"pause":null,"since":null})");
  CHECK(request.roi == Rect{0, 8, 0, 12});
  CHECK(request.dtype == StorageType::u32);
  CHECK_FALSE(request.snapshot);
  CHECK(bad_args("pixel", R"({"row":null,"col":1})").code == ErrorCode::missing_argument);
  CHECK(bad_args("release", R"({"snapshot":null})").code == ErrorCode::missing_argument);
}

TEST_CASE("roi: half-open, to the last pixel") {
  for (const auto op : region_ops) {
    CHECK(good_args(op, R"({"roi":[2,5,3,7]})").roi == Rect{2, 5, 3, 7});
    CHECK(good_args(op, R"({"roi":[0,8,0,12]})").roi == Rect{0, 8, 0, 12});
    CHECK(good_args(op, R"({"roi":[7,8,11,12]})").roi == Rect{7, 8, 11, 12});
  }
}

TEST_CASE("roi: empty, reversed or outside is roi_out_of_range, naming what was given and what is allowed") {
  for (const auto* roi : {"[0,9,0,12]", "[0,8,0,13]", "[3,3,0,12]", "[0,8,5,5]", "[5,2,0,12]", "[-1,8,0,12]",
                          "[0,8,-1,12]", "[8,9,0,12]", "[0,4294967304,0,12]", "[0,18446744073709551615,0,12]",
                          "[-9223372036854775808,8,0,12]"}) {
    CAPTURE(roi);
    const auto error = bad_args("values", R"({"roi":)" + std::string(roi) + "}");
    CHECK(error.code == ErrorCode::roi_out_of_range);
    const std::string given(roi);
    CHECK(says(error, "roi " + given.substr(0, given.size() - 1) + ")"));
    CHECK(says(error, "[0,8,0,12)"));
  }
}

TEST_CASE("roi and bins of another kind are bad_argument") {
  for (const auto* value :
       {"[0,8,0]", "[0,8,0,12,1]", "[]", "{}", "7", "\"all\"", "true", "[0.0,8,0,12]", "[0,8,0,\"12\"]",
        "[0,8,0,null]", "[[0,8],[0,12]]", "[0,8,0,18446744073709551616]"}) {
    CAPTURE(value);
    CHECK(bad_args("values", R"({"roi":)" + std::string(value) + "}").code == ErrorCode::bad_argument);
  }
  for (const auto* value : {"[0]", "[0,1,2]", "[]", "{}", "7", "\"0:4\"", "[0,4.0]", "[null,4]"}) {
    CAPTURE(value);
    CHECK(bad_args("values", R"({"bins":)" + std::string(value) + "}").code == ErrorCode::bad_argument);
  }
}

TEST_CASE("bins: half-open, to the last bin, and out of range") {
  CHECK(good_args("values", R"({"bins":[0,64]})").bins == BinRange{0, 64});
  CHECK(good_args("values", R"({"bins":[63,64]})").bins == BinRange{63, 64});
  for (const auto* bins : {"[0,65]", "[64,65]", "[5,5]", "[5,4]", "[-1,4]", "[0,4294967297]"}) {
    CAPTURE(bins);
    const auto error = bad_args("snapshot", R"({"bins":)" + std::string(bins) + "}");
    CHECK(error.code == ErrorCode::bins_out_of_range);
    CHECK(says(error, "[0,64)"));
  }
}

TEST_CASE("dtype: four NumPy strings and no other") {
  const std::pair<const char*, StorageType> types[] = {{"|u1", StorageType::u8},
                                                       {"<u2", StorageType::u16},
                                                       {"<u4", StorageType::u32},
                                                       {"<f4", StorageType::f32}};
  for (const auto& [name, type] : types) {
    CHECK(good_args("values", R"({"dtype":")" + std::string(name) + "\"}").dtype == type);
  }
  for (const auto* name : {"\"<u8\"", "\"u2\"", "\">u2\"", "\"uint16\"", "\"\"", "2", "[]", "false"}) {
    CAPTURE(name);
    const auto error = bad_args("values", R"({"dtype":)" + std::string(name) + "}");
    CHECK(error.code == ErrorCode::bad_argument);
    CHECK(says(error, "one of |u1 <u2 <u4 <f4"));
  }
}

TEST_CASE("flags are booleans") {
  CHECK(good_args("values", R"({"fresh":true})").fresh);
  CHECK(good_args("pixel", R"({"row":0,"col":0,"fresh":true})").fresh);
  CHECK(good_args("snapshot", R"({"fresh":true})").fresh);
  CHECK(good_args("values", R"({"then_reset":true})").then_reset);
  for (const auto* value : {"1", "\"true\"", "0", "[]"}) {
    CHECK(bad_args("values", R"({"fresh":)" + std::string(value) + "}").code == ErrorCode::bad_argument);
    CHECK(bad_args("values", R"({"then_reset":)" + std::string(value) + "}").code == ErrorCode::bad_argument);
  }
}

TEST_CASE("then_reset needs <u4 and no held cut") {
  CHECK(good_args("values", R"({"then_reset":true,"dtype":"<u4","fresh":true,"roi":[0,1,0,1]})").then_reset);
  for (const auto* type : {"|u1", "<u2", "<f4"}) {
    const auto error = bad_args("values", R"({"then_reset":true,"dtype":")" + std::string(type) + "\"}");
    CHECK(error.code == ErrorCode::bad_argument);
    CHECK(says(error, "<u4"));
    CHECK(good_args("values", R"({"then_reset":false,"dtype":")" + std::string(type) + "\"}").op ==
          Op::values);
  }
  const auto error = bad_args("values", R"({"then_reset":true,"snapshot":"c1"})");
  CHECK(error.code == ErrorCode::bad_argument);
  CHECK(says(error, "exclude each other"));
}

TEST_CASE("snapshot: the id of a held cut; nothing can be fresh about it") {
  CHECK(good_args("values", R"({"snapshot":"c1"})").snapshot == "c1");
  CHECK(good_args("pixel", R"({"row":0,"col":0,"snapshot":"c1"})").snapshot == "c1");
  CHECK(good_args("release", R"({"snapshot":"c1"})").snapshot == "c1");
  CHECK(good_args("release", R"({"snapshot":")" + std::string(128, 'x') + "\"}").snapshot->size() == 128);
  for (const auto& value :
       std::vector<std::string>{"1", "\"\"", "true", "[]", '"' + std::string(129, 'x') + '"'}) {
    CAPTURE(value);
    CHECK(bad_args("values", R"({"snapshot":)" + value + "}").code == ErrorCode::bad_argument);
    CHECK(bad_args("release", R"({"snapshot":)" + value + "}").code == ErrorCode::bad_argument);
  }
  CHECK(bad_args("release", "{}").code == ErrorCode::missing_argument);
  CHECK(
      says(bad_args("values", R"({"snapshot":"c1","fresh":true})"), "fresh and snapshot exclude each other"));
  CHECK(good_args("values", R"({"snapshot":"c1","fresh":false})").snapshot == "c1");
}

TEST_CASE("pixel: the region is that pixel, with all bins") {
  const auto request = good_args("pixel", R"({"row":7,"col":11})");
  CHECK(request.roi == Rect{7, 8, 11, 12});
  CHECK(request.bins == BinRange{0, 64});
  CHECK(good_args("pixel", R"({"row":0,"col":0})").roi == Rect{0, 1, 0, 1});
}

TEST_CASE("pixel: missing, outside, and no integer") {
  CHECK(says(bad_args("pixel", "{}"), "pixel needs `row`"));
  CHECK(bad_args("pixel", "{}").code == ErrorCode::missing_argument);
  CHECK(says(bad_args("pixel", R"({"row":1})"), "pixel needs `col`"));
  const auto outside = bad_args("pixel", R"({"row":600,"col":1})");
  CHECK(outside.code == ErrorCode::pixel_out_of_range);
  CHECK(outside.message == "row 600 is not in [0, 8)");
  CHECK(bad_args("pixel", R"({"row":1,"col":12})").message == "col 12 is not in [0, 12)");
  for (const auto* row : {"8", "-1", "4294967296", "18446744073709551615", "-9223372036854775808"}) {
    CAPTURE(row);
    CHECK(bad_args("pixel", R"({"col":0,"row":)" + std::string(row) + "}").code ==
          ErrorCode::pixel_out_of_range);
  }
  for (const auto* row : {"1.0", "\"1\"", "true", "[1]", "1e2", "18446744073709551616"}) {
    CAPTURE(row);
    CHECK(bad_args("pixel", R"({"col":0,"row":)" + std::string(row) + "}").code == ErrorCode::bad_argument);
  }
}

TEST_CASE("ttl_s: seconds, more than nothing, a day at most") {
  using std::chrono::milliseconds;
  CHECK(good_args("snapshot", R"({"ttl_s":60})").ttl == milliseconds(60000));
  CHECK(good_args("snapshot", R"({"ttl_s":0.001})").ttl == milliseconds(1));
  CHECK(good_args("snapshot", R"({"ttl_s":2.5})").ttl == milliseconds(2500));
  CHECK(good_args("snapshot", R"({"ttl_s":86400})").ttl == milliseconds(86400000));
  for (const auto* ttl :
       {"0", "-1", "0.0001", "86400.1", "1e300", "-1e300", "18446744073709551615", "\"60\"", "true", "[]"}) {
    CAPTURE(ttl);
    CHECK(bad_args("snapshot", R"({"ttl_s":)" + std::string(ttl) + "}").code == ErrorCode::bad_argument);
  }
}

TEST_CASE("start: a name of bounded length without control characters") {
  CHECK(good_args("start", "{}").name == "");
  CHECK(good_args("start", R"({"name":"Fe K\u03b1"})").name == "Fe K\xce\xb1");
  CHECK(good_args("start", R"({"name":")" + std::string(256, 'n') + "\"}").name.size() == 256);
  for (const auto& name : std::vector<std::string>{"7", "[]", "false", R"("a\nb")", R"("\u0000")",
                                                   R"("\u007f")", '"' + std::string(257, 'n') + '"'}) {
    CAPTURE(name);
    CHECK(bad_args("start", R"({"name":)" + name + "}").code == ErrorCode::bad_argument);
  }
}

TEST_CASE("what is planned is refused as not_built") {
  CHECK(bad_args("save", R"({"path":"a.h5"})").code == ErrorCode::not_built);
}

TEST_CASE("an unknown argument is named with those that are allowed") {
  for (const auto& spec : op_table()) {
    if (!spec.built) continue;
    CAPTURE(spec.name);
    const auto error = bad_args(spec.name, R"({"colour":1})");
    CHECK(error.code == ErrorCode::bad_argument);
    CHECK(says(error, std::string(spec.name) + " has no argument `colour`"));
    for (const auto& arg : spec.args) CHECK(says(error, arg.name));
    if (spec.args.empty()) CHECK(says(error, "allowed: none"));
  }
  CHECK(bad_args("pixel", R"({"row":1,"col":1,"bins":[0,1]})").code == ErrorCode::bad_argument);
  CHECK(bad_args("ping", R"({"fresh":true})").code == ErrorCode::bad_argument);
}

TEST_CASE("every built argument of the table has a reader: a value of no kind it takes is bad_argument") {
  for (const auto& spec : op_table()) {
    if (!spec.built) continue;
    for (const auto& arg : spec.args) {
      if (!arg.built) continue;
      CAPTURE(spec.name);
      CAPTURE(arg.name);
      std::string args = "{\"" + std::string(arg.name) + "\":{}";
      if (spec.op == Op::pixel && arg.name != "row") args += R"(,"row":1)";
      if (spec.op == Op::pixel && arg.name != "col") args += R"(,"col":1)";
      CHECK(bad_args(spec.name, args + "}").code == ErrorCode::bad_argument);
    }
  }
}

TEST_CASE("hostile names and values come out short and printable") {
  const std::string hostile = "\\u001b[2J\\n\\u202e" + std::string(60000, 'A');
  CHECK(bad_args("values", "{\"" + hostile + "\":1}").code == ErrorCode::bad_argument);
  CHECK(bad_args("values", R"({"dtype":")" + hostile + "\"}").code == ErrorCode::bad_argument);
  CHECK(bad_args(hostile, "{}").code == ErrorCode::unknown_op);
}
