#include "service/config/config_values.hpp"

#include <doctest/doctest.h>

#include "proto/json.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::ordered_json;

bool allowed(const char* path, const Json& value) { return !refusal(*find_field(path), value); }

TEST_CASE("config_values: sizes") {
  CHECK(parse_size("64MiB") == 67108864U);
  CHECK(parse_size("64 MiB") == 67108864U);
  CHECK(parse_size("1KiB") == 1024U);
  CHECK(parse_size("17179869183GiB") == 17179869183ULL << 30);
  for (const char* bad :
       {"17179869184GiB", "64MB", "64", "MiB", " MiB", "-1MiB", "1.5GiB", "64  MiB", "0x1KiB", ""}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_size(bad));
  }
  CHECK(size_text(64ULL << 20) == "64MiB");
  CHECK(size_text(1025) == "1025");
  CHECK(size_text(1536ULL << 20) == "1536MiB");
  CHECK(size_text(0) == "0");
  CHECK(allowed("ring.bytes", 1048576));
  CHECK(allowed("ring.bytes", "1MiB"));
  CHECK_FALSE(allowed("ring.bytes", "63KiB"));
  CHECK_FALSE(allowed("ring.bytes", "2048GiB"));
  CHECK_FALSE(allowed("ring.bytes", nullptr));
  CHECK(size_value("1MiB") == 1048576);
  CHECK(size_value(1048576) == 1048576);
}

TEST_CASE("config_values: integers and their ranges") {
  CHECK(allowed("batch.frames", 1));
  CHECK(allowed("batch.frames", 65535));
  CHECK(allowed("batch.frames", 64.0));
  for (const Json& bad : {Json(0), Json(65536), Json(-1), Json(1.5), Json(1e300), Json("64"), Json(true),
                          Json(nullptr), Json(18446744073709551615ULL), Json::array({64})}) {
    CAPTURE(dump_json(bad));
    CHECK_FALSE(allowed("batch.frames", bad));
  }
}

TEST_CASE("config_values: lists") {
  CHECK(allowed("sources.*.shape", {512, 1024}));
  for (const Json& bad : {Json::array({512}), Json::array({512, 0}), Json::array({1, 2, 3}),
                          Json::array({1, "2"}), Json::array({1, -2}), Json(512)}) {
    CAPTURE(dump_json(bad));
    CHECK_FALSE(allowed("sources.*.shape", bad));
  }
  CHECK(allowed("sources.*.invalid", Json::array({65535, 65534.0, -1, 0})));
  CHECK(allowed("sources.*.invalid", Json::array()));
  CHECK_FALSE(allowed("sources.*.invalid", Json::array({1, 2, 3, 4, 5})));
  CHECK_FALSE(allowed("sources.*.invalid", Json::array({"1"})));
  CHECK(allowed("sources.*.endpoints", Json::array({"tcp://a:1", "tcp://a:1"})));
  CHECK_FALSE(allowed("sources.*.endpoints", Json::array({"tcp://a:1", "a:1"})));
  CHECK_FALSE(allowed("sources.*.endpoints", Json(std::vector<std::string>(17, "tcp://a:1"))));
}

TEST_CASE("config_values: text and names") {
  CHECK(allowed("sources.*.name", "eiger-1.top_2"));
  CHECK(allowed("sources.*.name", std::string(64, 'a')));
  for (const Json& bad :
       {Json(""), Json("a b"), Json("a\"b"), Json("é"), Json(std::string(65, 'a')), Json(7)}) {
    CAPTURE(dump_json(bad));
    CHECK_FALSE(allowed("sources.*.name", bad));
  }
  CHECK(allowed("axis.unit", "µm"));
  CHECK(allowed("axis.unit", ""));
  CHECK_FALSE(allowed("axis.unit", "a\nb"));
  CHECK_FALSE(allowed("axis.unit", std::string("\xFF\xFE")));
  CHECK_FALSE(allowed("axis.unit", std::string(33, 'a')));
}

TEST_CASE("config_values: endpoints") {
  for (const char* good :
       {"tcp://127.0.0.1:30001", "tcp://daq-1.psi.ch:1", "tcp://[fe80::1%eth0]:65535", "tcp://*:5556",
        "tcp://eth0:5556", "tcp://127.0.0.1:*", "tcp://127.0.0.1:0", "ipc:///tmp/a", "ipc://@name"}) {
    CAPTURE(good);
    CHECK(endpoint_valid(good));
  }
  for (const char* bad :
       {"", "127.0.0.1:1", "tcp://", "tcp://host", "tcp://host:", "tcp://:1", "tcp://host:65536",
        "tcp://host:x", "tcp://ho st:1", "tcp://[]:1", "tcp://host:1/", "udp://h:1", "inproc://a", "ipc://",
        "ipc://a b", "TCP://h:1", "tcp://h:-1", "tcp://**:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(endpoint_valid(bad));
  }
  CHECK(endpoint_valid("ipc://" + std::string(107, 'a')));
  CHECK_FALSE(endpoint_valid("ipc://" + std::string(108, 'a')));
  CHECK(endpoint_only_binds("tcp://*:5556"));
  CHECK(endpoint_only_binds("tcp://127.0.0.1:*"));
  CHECK(endpoint_only_binds("tcp://127.0.0.1:0"));
  CHECK_FALSE(endpoint_only_binds("tcp://127.0.0.1:10"));
  CHECK_FALSE(endpoint_only_binds("ipc://a*"));
  CHECK(endpoint_has_free_port("tcp://*:0"));
  CHECK_FALSE(endpoint_has_free_port("tcp://*:10"));
  CHECK(listen_valid("127.0.0.1:9717"));
  CHECK(listen_valid("[::1]:0"));
  for (const char* bad :
       {"", ":9717", "9717", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "a b:1", "*:1"}) {
    CAPTURE(bad);
    CHECK_FALSE(listen_valid(bad));
  }
}

TEST_CASE("config_values: text of flags and variables is JSON where it fits, else text") {
  const auto value = [](const char* path, const char* text) {
    return value_from_text(*find_field(path), text);
  };
  CHECK(value("batch.frames", "64") == 64);
  CHECK(value("batch.frames", "many") == "many");
  CHECK(value("ring.bytes", "1GiB") == "1GiB");
  CHECK(value("ring.bytes", "1024") == 1024);
  CHECK(value("sources.*.name", "7") == "7");
  CHECK(value("sources.*.name", "true") == "true");
  CHECK(value("sources.*.name", "\"q\"") == "q");
  CHECK(value("sources.*.name", "null") == "null");
  CHECK(value("log.file", "null").is_null());
  CHECK(value("sources.*.topic", "") == "");
  CHECK(value("sources.*.shape", "[1,2]") == Json::array({1, 2}));
  CHECK(value("axis.min", "1e999") == "1e999");
  CHECK(value("sources.*.bind", "true") == true);
}

TEST_CASE("config_values: what is known but not built is refused, its default never") {
  CHECK(refusal(*find_field("sources.*.format"), "odin") ==
        "not built yet in this version, which has: array10, sls");
  CHECK(refusal(*find_field("sources.*.format"), "png") ==
        "allowed: one of array10, sls, dectris1, dectris2, stins, odin");
  CHECK(refusal(*find_field("publish.every_ms"), 500) == "not built yet in this version, which has: 1000");
  CHECK(refusal(*find_field("publish.every_ms"), "soon") == "allowed: an integer from 10 to 3600000");
  for (const auto& field : config_fields()) {
    CAPTURE(field.path);
    CHECK_FALSE(refusal(field, parse_ordered_json(default_json(field))));
    CHECK_FALSE(refusal(field, value_from_text(field, default_json(field))));
  }
}

}  // namespace
}  // namespace pixhist
