#include "proto/query/request.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

#include <string>

#include "proto/json.hpp"
#include "proto/query/op_table.hpp"
#include "tests/proto/query/request_support.hpp"

using namespace pixhist;
using test::bad;
using test::good;
using test::says;

TEST_CASE("the smallest request") {
  const auto request = good(R"({"v":1,"op":"ping"})");
  CHECK(request.op == Op::ping);
  CHECK(request.id.is_null());
}

TEST_CASE("id: a string, an integer of any size or null is kept as it is") {
  for (const auto* id :
       {"7", "0", "-3", "18446744073709551615", "-9223372036854775808", R"("")", R"("a-7")", "null"}) {
    CAPTURE(id);
    CHECK(dump_json(good(R"({"v":1,"op":"ping","id":)" + std::string(id) + "}").id) == id);
  }
}

TEST_CASE("id: anything else is refused, with id null") {
  for (const auto* id : {"true", "1.0", "1e3", "[1]", "{}", "18446744073709551616"}) {
    CAPTURE(id);
    const auto error = bad(R"({"v":1,"op":"ping","id":)" + std::string(id) + "}");
    CHECK(error.code == ErrorCode::bad_request);
    CHECK(says(error, "`id` must be a string, an integer or null"));
    CHECK(error.id.is_null());
  }
}

TEST_CASE("not JSON, or JSON but no object: bad_request with id null") {
  for (const auto* text : {"", " ", "nonsense", "{", R"({"v":1,"op":"ping")", R"({"v":1,"op":"ping"} x)",
                           "\xff\xfe", "{\"v\":1,\"op\":\"\xc3\x28\"}", R"({"v":1,"op":"ping","id":1e999})",
                           "[]", "1", "null", R"("ping")", R"([{"v":1,"op":"ping"}])"}) {
    CAPTURE(text);
    const auto error = bad(text);
    CHECK(error.code == ErrorCode::bad_request);
    CHECK(error.id.is_null());
  }
  CHECK(says(bad(R"({"v":1,"id":2,"op":})"), "column"));
}

TEST_CASE("a zero byte does not end the request") {
  const auto error = bad(std::string(R"({"v":1,"op":"ping"})") + '\0' + "rubbish");
  CHECK(error.code == ErrorCode::bad_request);
  CHECK(says(error, "zero byte"));
}

TEST_CASE("64 KiB are read, one byte more is request_too_large") {
  const std::string head = R"({"v":1,"op":"ping"})";
  CHECK(good(head + std::string(max_request_bytes - head.size(), ' ')).op == Op::ping);
  const auto error = bad(head + std::string(max_request_bytes - head.size() + 1, ' '));
  CHECK(error.code == ErrorCode::request_too_large);
  CHECK(says(error, "65537"));
  CHECK(says(error, "65536"));
  CHECK(bad(std::string(10'000'000, '[')).code == ErrorCode::request_too_large);
}

TEST_CASE("v: missing or not the integer 1, and the id is known by then") {
  for (const auto* v :
       {"0", "2", "-1", "1.0", "\"1\"", "null", "true", "[1]", "{}", "18446744073709551615"}) {
    CAPTURE(v);
    const auto error = bad(R"({"id":4,"op":"ping","v":)" + std::string(v) + "}");
    CHECK(error.code == ErrorCode::unsupported_version);
    CHECK(error.id == 4);
  }
  CHECK(says(bad(R"({"op":"ping"})"), "`v` is missing"));
  CHECK(bad(R"({"op":"ping"})").code == ErrorCode::unsupported_version);
  CHECK(bad(R"({"v":2,"op":"new","mode":1})").code == ErrorCode::unsupported_version);
}

TEST_CASE("an unknown key at the top level is named") {
  const auto error = bad(R"({"v":1,"id":4,"op":"ping","arguments":{}})");
  CHECK(error.code == ErrorCode::bad_request);
  CHECK(error.id == 4);
  CHECK(says(error, "unknown key `arguments`; a request has v, id, op and args"));
}

TEST_CASE("op: missing, no string, unknown") {
  CHECK(bad(R"({"v":1})").code == ErrorCode::bad_request);
  CHECK(bad(R"({"v":1,"op":7})").code == ErrorCode::bad_request);
  CHECK(bad(R"({"v":1,"op":null})").code == ErrorCode::bad_request);
  for (const auto* op : {"", "Ping", "ping ", "histogram"}) {
    const auto error = bad(R"({"v":1,"id":"x","op":")" + std::string(op) + "\"}");
    CHECK(error.code == ErrorCode::unknown_op);
    CHECK(error.id == "x");
    CHECK(says(error, '`' + std::string(op) + '`'));
    CHECK(says(error, "info status values pixel"));
  }
}

TEST_CASE("args must be an object") {
  for (const auto* args : {"[]", "1", "\"\"", "null", "true"}) {
    CAPTURE(args);
    const auto error = bad(R"({"v":1,"op":"ping","args":)" + std::string(args) + "}");
    CHECK(error.code == ErrorCode::bad_request);
    CHECK(says(error, "`args`"));
  }
}

TEST_CASE("every op of the table is either taken or not_built, and op names go both ways") {
  const std::pair<std::string_view, const char*> needed[] = {{"pixel", R"({"row":1,"col":2})"},
                                                             {"release", R"({"snapshot":"c1"})"}};
  for (const auto& spec : op_table()) {
    CAPTURE(spec.name);
    std::string args = "{}";
    for (const auto& [name, value] : needed) {
      if (name == spec.name) args = value;
    }
    const auto text = test::request(spec.name, args);
    if (spec.built) {
      CHECK(good(text).op == spec.op);
    } else {
      const auto error = bad(text);
      CHECK(error.code == ErrorCode::not_built);
      CHECK(error.id == 5);
      CHECK(says(error, '`' + std::string(spec.name) + '`'));
    }
    CHECK(name_of(spec.op) == spec.name);
    CHECK(find_op(spec.name) == &spec);
  }
  CHECK_FALSE(find_op("save")->built);
  CHECK(bad(test::request("save", R"({"nonsense":1})")).code == ErrorCode::not_built);
}

TEST_CASE("control ops") {
  for (const auto* op : {"reset", "start", "stop"}) CHECK(is_control(test::good_args(op, "{}")));
  for (const auto* op :
       {"info", "status", "values", "edges", "centers", "snapshot", "ping", "spectrum", "image", "moments"}) {
    CHECK_FALSE(is_control(test::good_args(op, "{}")));
  }
  CHECK(is_control(test::good_args("values", R"({"then_reset":true})")));
  CHECK_FALSE(is_control(test::good_args("values", R"({"then_reset":false})")));
  CHECK_FALSE(is_control(test::good_args("release", R"({"snapshot":"c1"})")));
  CHECK(find_op("save")->control);
}

TEST_CASE("the schemas say of each op and argument whether it is built") {
  const auto ops = op_schemas();
  CHECK(ops.size() == op_table().size());
  CHECK(ops["values"]["built"] == true);
  CHECK(ops["values"]["control"] == false);
  CHECK(ops["values"]["args"]["dtype"]["default"] == "<u4");
  CHECK(ops["values"]["args"]["dtype"]["built"] == true);
  CHECK(ops["save"]["args"]["path"]["built"] == false);
  CHECK(ops["values"]["args"]["rebin"]["default"] == 1);
  CHECK(ops["pixel"]["args"]["row"]["required"] == true);
  CHECK_FALSE(ops["pixel"]["args"]["row"].contains("default"));
  CHECK(ops["image"]["built"] == true);
  CHECK(ops["save"]["built"] == false);
  CHECK(ops["reset"]["control"] == true);
  CHECK(ops["ping"]["args"].empty());
}

TEST_CASE("every file in vectors/requests is taken, or not_built where it says so") {
  int taken = 0;
  for (const auto& entry : test::vectors("requests")) {
    const auto& name = entry.first;
    const auto& text = entry.second;
    CAPTURE(name);
    if (name.find("not_built") != std::string::npos) {
      CHECK(bad(text).code == ErrorCode::not_built);
    } else {
      good(text);
      ++taken;
    }
  }
  CHECK(taken >= 6);
}

namespace {

/// Parses on a stack on which no recursion over 32 000 levels fits; each must be refused, not crash.
void* parse_depth_bombs(void* refused) {
  const std::string open(max_request_bytes, '[');
  std::string objects;
  while (objects.size() + 5 <= max_request_bytes) objects += "{\"a\":";
  const std::size_t depth = 32000;
  const std::string nested = std::string(depth, '[') + std::string(depth, ']');
  std::string nested_objects;
  for (std::size_t i = 0; i < 10000; ++i) nested_objects += "{\"a\":";
  nested_objects += "1" + std::string(10000, '}');
  auto& count = *static_cast<int*>(refused);
  for (const auto& text :
       {open, objects, nested, R"({"v":1,"op":"ping","id":)" + nested + "}", R"({"v":)" + nested + "}",
        R"({"v":1,"op":)" + nested + "}", R"({"v":1,"op":"ping","args":)" + nested + "}",
        R"({"v":1,"op":"ping","x":)" + nested_objects + "}",
        R"({"v":1,"op":"values","args":{"roi":)" + nested + "}}",
        R"({"v":1,"op":"values","args":{"rebin":)" + nested + "}}",
        R"({"v":1,"op":"values","args":{"since":)" + nested_objects + "}}"}) {
    if (std::holds_alternative<RequestError>(test::parse(text))) ++count;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("64 KiB of nesting costs no stack") {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  int refused = 0;
  REQUIRE(pthread_create(&thread, &attributes, parse_depth_bombs, &refused) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  CHECK(refused == 11);
}
