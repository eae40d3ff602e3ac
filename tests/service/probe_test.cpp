#include "service/probe.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "proto/json.hpp"
#include "service/transport/socket_error.hpp"
#include "tests/service/config/load_for_test.hpp"

using namespace pixhist;
using nlohmann::json;

namespace {

FrameDescription frame_of(FrameShape shape, PixelType type, double lowest = 0, double highest = 0) {
  FrameDescription frame;
  frame.frame = {shape, type};
  frame.detector = shape;
  frame.lowest = lowest;
  frame.highest = highest;
  return frame;
}

json configuration(const FrameDescription& frame, const std::string& format = "array10") {
  return parse_json(probe_configuration(frame, format, {.endpoint = "tcp://daq:30001"}));
}

std::string what_is_wrong(const FrameDescription& frame, const std::string& format) {
  const auto loaded = test::load_text(probe_configuration(frame, format, {.endpoint = "tcp://daq:30001"}));
  std::string text = loaded.error_text();
  for (const auto& warning : loaded.warnings) {
    // Of a frame larger than a batch nothing is wrong with what the probe chose.
    if (warning.path != "batch.bytes") text += warning.text();
  }
  return text;
}

}  // namespace

TEST_CASE("probe: the configuration for a jungfrau module, whole") {
  auto frame = frame_of({512, 1024}, PixelType::u16, 1, 49279);
  frame.jungfrau = frame.adc14 = true;
  frame.place = Place{};
  CHECK(configuration(frame, "sls") == parse_json(R"({
    "detector": {"rows": 512, "cols": 1024, "pixel_type": "u16"},
    "axis": {"bins": 1024, "min": 0.0, "max": 16384.0, "map": "adc"},
    "sources": [{"name": "module0", "endpoint": "tcp://daq:30001", "socket": "sub", "format": "sls"}]})"));
}

TEST_CASE("probe: every configuration is good, without a warning") {
  for (const auto type : {PixelType::u8, PixelType::u16, PixelType::u32, PixelType::i16, PixelType::i32,
                          PixelType::f32, PixelType::f64}) {
    for (const auto shape :
         {FrameShape{1, 1}, FrameShape{512, 1024}, FrameShape{4362, 4148}, FrameShape{16384, 8192}}) {
      for (const auto& range : {std::pair{0.0, 0.0}, {0.0, 4e9}, {-2.1e9, 2.1e9}, {-0.25, 1e-3}}) {
        CAPTURE(static_cast<int>(type));
        CAPTURE(shape.rows);
        CAPTURE(range.second);
        CHECK(what_is_wrong(frame_of(shape, type, range.first, range.second), "array10") == "");
      }
    }
  }
  auto port = frame_of({256, 512}, PixelType::u32, 0, 70000);
  port.detector = {512, 1024};
  port.place = Place{256, 512, true};
  CHECK(what_is_wrong(port, "sls") == "");
  CHECK(configuration(port, "sls")["sources"][0]["shape"] == parse_json("[256,512]"));
  CHECK(configuration(port, "sls")["detector"]["rows"] == 512);
}

TEST_CASE("probe: the axis covers the type, or the frame's values where the type is wide") {
  const auto axis = [](PixelType type, double lowest, double highest) {
    const auto a = configuration(frame_of({8, 8}, type, lowest, highest))["axis"];
    return std::tuple{a["bins"].get<int>(), a["min"].get<double>(), a["max"].get<double>()};
  };
  CHECK(axis(PixelType::u8, 0, 3) == std::tuple{256, 0.0, 256.0});
  CHECK(axis(PixelType::u16, 0, 3) == std::tuple{1024, 0.0, 65536.0});
  CHECK(axis(PixelType::i16, 0, 3) == std::tuple{1024, -32768.0, 32768.0});
  CHECK(axis(PixelType::u32, 0, 3) == std::tuple{1024, 0.0, 1024.0});
  CHECK(axis(PixelType::u32, 0, 1023) == std::tuple{1024, 0.0, 1024.0});
  CHECK(axis(PixelType::u32, 0, 1024) == std::tuple{1024, 0.0, 2048.0});
  CHECK(axis(PixelType::i32, -5, 70000) == std::tuple{1024, -1024.0, 131072.0});
  CHECK(axis(PixelType::f32, -5000, 2) == std::tuple{1024, -8192.0, 1024.0});
}

TEST_CASE("probe: an axis stays finite whatever the values, so that the configuration is good") {
  for (const auto type : {PixelType::f32, PixelType::f64}) {
    const double huge = type == PixelType::f32 ? 3.4e38 : 1.79e308;
    for (const double lowest : {-huge, 0.0}) {
      CAPTURE(lowest);
      CHECK(what_is_wrong(frame_of({8, 8}, type, lowest, huge), "array10") == "");
    }
  }
}

TEST_CASE("probe: a large detector gets fewer bins and a larger ring") {
  const auto large = configuration(frame_of({16384, 8192}, PixelType::u16));
  CHECK(large["axis"]["bins"] == 64);
  CHECK(large["ring"]["bytes"].get<std::uint64_t>() >= 4ULL * 16384 * 8192 * 2);
  CHECK_FALSE(configuration(frame_of({512, 1024}, PixelType::u16)).contains("ring"));
}

TEST_CASE("probe: an unknown format, an endpoint that is none, and nobody there") {
  CHECK_THROWS_AS(probe({.endpoint = "tcp://127.0.0.1:1", .format = "hdf5"}), std::invalid_argument);
  CHECK_THROWS_AS(probe({.endpoint = "tcp://127.0.0.1:1", .format = "odin"}), std::invalid_argument);
  for (const auto* const none : {"nonsense", "", "inproc://a", "tcp://127.0.0.1", "tcp://127.0.0.1:99999",
                                 "tcp://127.0.0.1:*", "tcp://*:30001"}) {
    CHECK_THROWS_WITH_AS(probe({.endpoint = none}), doctest::Contains("allowed: tcp://host:port"),
                         SocketError);
  }
  const auto result = probe({.endpoint = "tcp://127.0.0.1:1", .timeout = std::chrono::seconds(1)});
  CHECK_FALSE(result.found);
  CHECK(result.configuration.empty());
  CHECK(result.explanation.find("No connection to tcp://127.0.0.1:1 within 1 s") == 0);
}
