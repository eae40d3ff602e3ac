#include "proto/ingest/sls_encoder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "proto/json.hpp"

using namespace pixhist;

namespace {

SlsFrame jungfrau_frame() {
  SlsFrame frame;
  frame.detshape = {2, 1};
  frame.shape = {512, 1024};
  frame.frame_number = 4242;
  frame.frame_index = 41;
  frame.progress = 100.0 * 42 / 126;
  frame.fname = "/data/run";
  frame.packet_number = 128;
  frame.mod_id = 1234;
  frame.row = 1;
  return frame;
}

}  // namespace

TEST_CASE("a header, byte for byte") {
  std::string header = "what was here before";
  encode_sls_header(jungfrau_frame(), header);
  CHECK(header ==
        R"({"jsonversion":5, "bitmode":16, "fileIndex":0, "detshape":[1, 2], "shape":[1024, 512], )"
        R"("size":1048576, "acqIndex":4242, "frameIndex":41, "progress":33.3333, "fname":"/data/run", )"
        R"("data":1, "completeImage":1, "frameNumber":4242, "expLength":0, "packetNumber":128, )"
        R"("detSpec1":0, "timestamp":0, "modId":1234, "row":1, "column":0, "detSpec2":0, "detSpec3":0, )"
        R"("detSpec4":0, "detType":3, "version":2, "flipRows":0, "quad":0, "rx_roi":[0, 1023, 0, 511]})"
        "\n");
}

TEST_CASE("the end marker, byte for byte: 402 bytes") {
  const auto end = encode_sls_end();
  CHECK(end.size() == 402);
  CHECK(end ==
        R"({"jsonversion":5, "bitmode":0, "fileIndex":0, "detshape":[0, 0], "shape":[0, 0], "size":0, )"
        R"("acqIndex":0, "frameIndex":0, "progress":0, "fname":"", "data":0, "completeImage":0, )"
        R"("frameNumber":0, "expLength":0, "packetNumber":0, "detSpec1":0, "timestamp":0, "modId":0, )"
        R"("row":0, "column":0, "detSpec2":0, "detSpec3":0, "detSpec4":0, "detType":0, "version":0, )"
        R"("flipRows":0, "quad":0, "rx_roi":[0, 0, 0, 0]})"
        "\n");
}

TEST_CASE("an end marker filled with settings differs from a frame by `data` alone") {
  std::string header;
  encode_sls_header(jungfrau_frame(), header);
  const auto at = header.find(R"("data":1)");
  REQUIRE(at != std::string::npos);
  header.replace(at, 8, R"("data":0)");
  CHECK(encode_sls_end(jungfrau_frame()) == header);
}

TEST_CASE("additional keys stand before rx_roi, with the receiver's blanks") {
  const std::vector<std::pair<std::string, std::string>> additional{{"energy", "12.4"}, {"sample", "lyso"}};
  auto frame = jungfrau_frame();
  frame.additional = additional;
  frame.rx_roi = {{100, 299, -1, -1}};
  std::string header;
  encode_sls_header(frame, header);
  CHECK(header.ends_with(R"("quad":0, "addJsonHeader": {"energy":"12.4", "sample":"lyso" } , )"
                         R"("rx_roi":[100, 299, -1, -1]})"
                         "\n"));
  CHECK(nlohmann::json::accept(header));
}

TEST_CASE("progress has 6 significant digits; integers are exact to 64 bits") {
  auto frame = jungfrau_frame();
  const auto parsed = [&] {
    std::string header;
    encode_sls_header(frame, header);
    return header;
  };
  for (const auto& [progress, text] :
       {std::pair{5.0, "5"}, {0.5, "0.5"}, {1e-5, "1e-05"}, {200.0, "200"}, {100.0 / 7, "14.2857"}}) {
    frame.progress = progress;
    CHECK(parsed().find(R"("progress":)" + std::string(text) + ", ") != std::string::npos);
  }
  frame.frame_number = std::numeric_limits<std::uint64_t>::max();
  frame.timestamp = 9007199254740993ULL;
  const auto json = parse_json(parsed());
  CHECK(json.at("frameNumber").get<std::uint64_t>() == frame.frame_number);
  CHECK(json.at("acqIndex").get<std::uint64_t>() == frame.frame_number);
  CHECK(json.at("timestamp").get<std::uint64_t>() == frame.timestamp);
}

TEST_CASE("the size follows from shape and bits, packed ones too, unless it is given") {
  for (const auto& [bits, bytes] :
       {std::pair{4U, 65536}, {8U, 131072}, {12U, 196608}, {16U, 262144}, {32U, 524288}}) {
    SlsFrame frame;
    frame.shape = {256, 512};
    frame.bitmode = bits;
    std::string header;
    encode_sls_header(frame, header);
    CHECK(parse_json(header).at("size") == bytes);
    frame.size = 160;
    encode_sls_header(frame, header);
    CHECK(parse_json(header).at("size") == 160);
  }
}

TEST_CASE("nothing is escaped, as the receiver escapes nothing") {
  auto frame = jungfrau_frame();
  frame.fname = R"(/tmp/a"b\c)";
  std::string header;
  encode_sls_header(frame, header);
  CHECK(header.find(R"("fname":"/tmp/a"b\c", )") != std::string::npos);
  CHECK_FALSE(nlohmann::json::accept(header));
}
