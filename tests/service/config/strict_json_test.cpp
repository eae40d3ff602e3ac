#include "service/config/strict_json.hpp"

#include <doctest/doctest.h>

#include "proto/json.hpp"

namespace pixhist {
namespace {

TEST_CASE("strict_json: values are those of the library's own parser") {
  const std::string text =
      R"({"a":[1,-2,3.5,1e3,true,false,null,"x\n\u00e9",[],{}],"b":{"c":{"d":[[1],[2,[3]]]}},
                              "big":18446744073709551615,"e":""})";
  const auto json = parse_strict_json(text);
  CHECK(json.parsed);
  CHECK(json.errors.empty());
  CHECK(json.value == parse_ordered_json(text));
  CHECK(parse_strict_json("7").value == 7);
  CHECK(parse_strict_json(" \"x\" ").value == "x");
}

TEST_CASE("strict_json: an error says line and column") {
  struct Case {
    const char* text;
    std::size_t line, column;
  };
  for (const auto& c : {Case{"", 1, 1}, Case{"{\n  \"a\": 1,\n  \"b\" 2\n}", 3, 7},
                        Case{"{\"a\": tru}", 1, 10}, Case{"{\"a\":1} x", 1, 9}, Case{"[1,\n2,\n]", 3, 1}}) {
    CAPTURE(c.text);
    const auto json = parse_strict_json(c.text);
    CHECK_FALSE(json.parsed);
    REQUIRE(json.errors.size() == 1);
    CHECK(json.errors[0].line == c.line);
    CHECK(json.errors[0].column == c.column);
    CHECK(json.errors[0].what.find("not valid JSON") == 0);
    CHECK(json.value.is_null());
  }
}

TEST_CASE("strict_json: nothing behind a zero byte is lost in silence") {
  const auto json = parse_strict_json(std::string_view("{\"a\":\n1}\0{\"a\":2} no JSON", 21));
  CHECK_FALSE(json.parsed);
  REQUIRE(json.errors.size() == 1);
  CHECK(json.errors[0].what == "not valid JSON: a zero byte");
  CHECK(json.errors[0].line == 2);
  CHECK(json.errors[0].column == 3);
}

TEST_CASE("strict_json: a key given twice is an error with its path and place; the last one counts") {
  const auto json =
      parse_strict_json("{\"a\":{\"x\":1},\n \"l\":[{},{\"k\":1,\n   \"k\":2}],\n \"a\":{\"y\":2}}");
  CHECK(json.parsed);
  REQUIRE(json.errors.size() == 2);
  CHECK(json.errors[0].key == "l.1.k");
  CHECK(json.errors[0].line == 3);
  CHECK(json.errors[0].column == 4);
  CHECK(json.errors[1].key == "a");
  CHECK(json.errors[1].line == 4);
  CHECK(json.errors[1].column == 2);
  CHECK(dump_json(json.value) == R"({"a":{"y":2},"l":[{},{"k":2}]})");
}

TEST_CASE("strict_json: what is too large or too deep is refused") {
  const auto number = parse_strict_json("{\"a\":1e999}");
  CHECK_FALSE(number.parsed);
  REQUIRE(number.errors.size() == 1);
  CHECK(number.errors[0].what.find("1e999 is too large") != std::string::npos);
  CHECK(parse_strict_json(std::string(32, '[') + std::string(32, ']')).parsed);
  const auto deep = parse_strict_json(std::string(33, '[') + std::string(33, ']'));
  CHECK_FALSE(deep.parsed);
  REQUIRE(deep.errors.size() == 1);
  CHECK(deep.errors[0].what.find("32 levels") != std::string::npos);
  CHECK(deep.errors[0].column == 33);
}

TEST_CASE("strict_json: json_text shortens at a character and never throws") {
  CHECK(json_text(std::string("a\xC3\xA9z")) == "\"a\xC3\xA9z\"");
  CHECK(json_text(std::string("a\xC3\xA9z"), 3) == "\"a...");
  CHECK(json_text(std::string("a\xFFz")) == "\"a\xEF\xBF\xBDz\"");
}

}  // namespace
}  // namespace pixhist
