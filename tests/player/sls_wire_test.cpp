#include <doctest/doctest.h>

#include <vector>

#include "proto/json.hpp"
#include "tools/player/detector_ports.hpp"
#include "tools/player/wire_encoder.hpp"

namespace pixhist {
namespace {

using Json = nlohmann::json;

SlsWireSettings port_of(const char* detector, const PortPlan& plan, std::size_t port) {
  const auto kind = find_detector(detector).value();
  SlsWireSettings settings;
  settings.shape = kind.port;
  settings.detector = plan.detector;
  settings.place = plan.ports.at(port);
  settings.det_type = kind.sls_type;
  settings.packet_bytes = kind.packet_bytes;
  return settings;
}

std::string header_of(WireEncoder& wire, const WireFrame& frame, FrameFault fault = FrameFault::none) {
  std::string header;
  wire.header(frame, fault, header);
  return header;
}

// Headers as a receiver of version 9.2 sends them.
TEST_CASE("the third port of an EIGER module: bottom half, right, upside down") {
  auto settings = port_of("eiger", plan_half_module_ports({1, 1}), 2);
  settings.frames = 10;
  CHECK(header_of(*make_sls_wire(settings), {0, 1, 1, 0}) ==
        R"({"jsonversion":5, "bitmode":16, "fileIndex":0, "detshape":[2, 2], "shape":[512, 256], )"
        R"("size":262144, "acqIndex":1, "frameIndex":0, "progress":10, "fname":"//run", "data":1, )"
        R"("completeImage":1, "frameNumber":1, "expLength":0, "packetNumber":64, "detSpec1":0, )"
        R"("timestamp":0, "modId":31, "row":1, "column":1, "detSpec2":0, "detSpec3":0, "detSpec4":0, )"
        R"("detType":1, "version":2, "flipRows":1, "quad":0, "rx_roi":[0, 511, 0, 255]})"
        "\n");
}

TEST_CASE("the lower of two JUNGFRAU modules, in its second acquisition") {
  auto settings = port_of("jungfrau", plan_ports({2, 1}, 1), 1);
  settings.frames = 20;
  const WireFrame frame{1, 21, 23, 2};
  CHECK(header_of(*make_sls_wire(settings), frame) ==
        R"({"jsonversion":5, "bitmode":16, "fileIndex":1, "detshape":[1, 2], "shape":[1024, 512], )"
        R"("size":1048576, "acqIndex":23, "frameIndex":2, "progress":15, "fname":"//run", "data":1, )"
        R"("completeImage":1, "frameNumber":23, "expLength":0, "packetNumber":128, "detSpec1":0, )"
        R"("timestamp":0, "modId":1234, "row":1, "column":0, "detSpec2":0, "detSpec3":0, "detSpec4":0, )"
        R"("detType":3, "version":2, "flipRows":0, "quad":0, "rx_roi":[0, 1023, 0, 511]})"
        "\n");
}

TEST_CASE("bits, packets, additional keys, holes and version 4") {
  auto settings = port_of("eiger", plan_half_module_ports({1, 1}), 0);
  settings.bits = 12;
  settings.json_version = 4;
  settings.additional = {{"sample", "lyso"}, {"energy", "12.4"}};
  const auto wire = make_sls_wire(settings);
  const auto text = header_of(*wire, {0, 1, 1, 0, false});
  const auto header = parse_json(text);
  CHECK(header.at("size") == 196608);
  CHECK(header.at("packetNumber") == 36);  // of 48
  CHECK(header.at("completeImage") == 0);
  CHECK(header.at("jsonversion") == 4);
  CHECK_FALSE(header.contains("rx_roi"));
  CHECK(text.find(R"("addJsonHeader": {"energy":"12.4", "sample":"lyso" } )") != std::string::npos);
  const auto end = parse_json(wire->end_mark(0, 10));
  CHECK(end.at("data") == 0);
  CHECK(end.at("jsonversion") == 4);
  CHECK(end.at("shape") == Json({0, 0}));
  settings.filled_end = true;
  const auto filled = parse_json(make_sls_wire(settings)->end_mark(0, 10));
  CHECK(filled.at("data") == 0);
  CHECK(filled.at("shape") == Json({512, 256}));
}

TEST_CASE("each fault of a header is the one asked for") {
  const auto settings = port_of("moench", plan_ports({1, 1}, 1), 0);
  const auto wire = make_sls_wire(settings);
  const WireFrame frame{0, 1, 1, 0};
  CHECK_FALSE(Json::accept(header_of(*wire, frame, FrameFault::bad_header)));
  CHECK_FALSE(parse_json(header_of(*wire, frame, FrameFault::missing_key)).contains("frameNumber"));
  CHECK(parse_json(header_of(*wire, frame, FrameFault::wrong_kind)).at("frameNumber") == "one");
  CHECK(parse_json(header_of(*wire, frame, FrameFault::wrong_type)).at("bitmode") == 32);
  CHECK(parse_json(header_of(*wire, frame, FrameFault::wrong_shape)).at("shape") == Json({400, 401}));
  CHECK(header_of(*wire, frame, FrameFault::huge_header).size() == 70'000);
}

TEST_CASE("a receiver tells acquisitions apart by file index, first number, and end markers") {
  auto settings = port_of("moench", plan_ports({1, 1}, 1), 0);
  settings.file_index_goes_on = false;
  const auto wire = make_sls_wire(settings);
  const auto key = [&](const WireFrame& frame) { return std::string(wire->run_key(frame).value()); };
  const auto first = key({0, 1, 1, 0});
  CHECK(key({0, 1, 3, 2}) == first);
  CHECK(key({0, 1, 2, 1}) == first);    // late
  CHECK(key({1, 10, 10, 0}) != first);  // the counter went on
  CHECK(key({0, 1, 3, 2}) == first);
  wire->read_end(0, 3);
  CHECK(key({0, 1, 4, 3}) == first);  // goes on behind an early end marker
  wire->read_end(0, 3);
  CHECK(key({0, 1, 1, 0}) != first);  // the counter was set back
}

TEST_CASE("ports lie as the detector's configuration puts them") {
  const auto two = plan_ports({2, 2}, 2);
  CHECK(two.detector == FrameShape{4, 2});
  REQUIRE(two.ports.size() == 8);
  CHECK(two.ports[1] == PortPlace{1, 0, false, 1234});
  CHECK(two.ports[2] == PortPlace{2, 0, false, 1234});
  CHECK(two.ports[4] == PortPlace{0, 1, false, 1234});
  const auto halves = plan_half_module_ports({1, 2});
  CHECK(halves.detector == FrameShape{2, 4});
  REQUIRE(halves.ports.size() == 8);
  CHECK(halves.ports[3] == PortPlace{1, 0, true, 32});
  CHECK(halves.ports[4] == PortPlace{0, 2, false, 31});
  CHECK(halves.ports[6] == PortPlace{1, 3, true, 31});
}

}  // namespace
}  // namespace pixhist
