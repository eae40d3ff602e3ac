#include "proto/ingest/describe_message.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "proto/ingest/array10_encoder.hpp"
#include "proto/ingest/sls_encoder.hpp"
#include "tests/proto/ingest/sls_support.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

template <class T>
std::vector<std::byte> blob_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

MessageDescription describe(std::string_view format, std::string_view header,
                            std::span<const std::byte> pixels) {
  const MessagePart parts[] = {bytes_of(header), pixels};
  return describe_message(format, parts);
}

FrameDescription frame_in(const MessageDescription& description) {
  if (const auto* unusable = std::get_if<UnusableMessage>(&description)) FAIL(unusable->why);
  REQUIRE(std::holds_alternative<FrameDescription>(description));
  return std::get<FrameDescription>(description);
}

std::string why(const MessageDescription& description) {
  REQUIRE(std::holds_alternative<UnusableMessage>(description));
  const auto& text = std::get<UnusableMessage>(description).why;
  CHECK(text.size() <= 320);
  CHECK(is_printable(text));
  return text;
}

bool contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE("said: " << text);
  return false;
}

FrameDescription described_sls(const SlsFrame& frame) {
  std::string header;
  encode_sls_header(frame, header);
  return frame_in(describe("sls", header, std::vector<std::byte>(frame.shape.pixels() * frame.bitmode / 8)));
}

}  // namespace

TEST_CASE("array10: every type, with the range of the frame's values") {
  const auto of = [](PixelType type, const std::vector<std::byte>& blob) {
    std::string header;
    encode_array10_header({{2, 3}, type, {}, {}}, header);
    const auto frame = frame_in(describe("array10", header, blob));
    CHECK(frame.frame.shape == FrameShape{2, 3});
    CHECK(frame.frame.pixel_type == type);
    CHECK(frame.detector == FrameShape{2, 3});
    CHECK_FALSE(frame.place);
    CHECK_FALSE(frame.jungfrau);
    return std::pair{frame.lowest, frame.highest};
  };
  CHECK(of(PixelType::u8, blob_of<std::uint8_t>({7, 3, 255, 9, 3, 4})) == std::pair{3.0, 255.0});
  CHECK(of(PixelType::u16, blob_of<std::uint16_t>({7, 3, 65535, 9, 3, 4})) == std::pair{3.0, 65535.0});
  CHECK(of(PixelType::i16, blob_of<std::int16_t>({7, -3, 255, 9, 3, 4})) == std::pair{-3.0, 255.0});
  CHECK(of(PixelType::i32, blob_of<std::int32_t>({7, -3, 255, -70000, 3, 4})) == std::pair{-70000.0, 255.0});
  // All ones mean "no data" in 32-bit counts.
  CHECK(of(PixelType::u32, blob_of<std::uint32_t>({7, 3, 4294967295U, 9, 3, 4})) == std::pair{3.0, 9.0});
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(of(PixelType::f32, blob_of<float>({nan, -1.5F, inf, 2.5F, -inf, 0})) == std::pair{-1.5, 2.5});
  CHECK(of(PixelType::f32, blob_of<float>({nan, nan, nan, nan, nan, inf})) == std::pair{0.0, 0.0});
  CHECK(of(PixelType::f64, blob_of<double>({5, 6, 7, 8, 9, 1e300})) == std::pair{5.0, 1e300});
}

TEST_CASE("array10: an end message is no frame yet, what the decoder refuses is unusable and says why") {
  const MessagePart end[] = {bytes_of(R"({"htype":"array-1.0","end":true})")};
  CHECK(std::holds_alternative<NoFrameYet>(describe_message("array10", end)));
  const std::vector<std::byte> pixels(12);
  CHECK(contains(why(describe("array10", R"({"shape":[2,3],"type":"uint16","encoding":"bslz4"})", pixels)),
                 "encoding: encoding \"bslz4\" is not built yet"));
  CHECK(contains(why(describe("array10", R"({"shape":[2,4],"type":"uint16"})", pixels)), "size: "));
  CHECK(contains(why(describe("array10", R"({"shape":[2,3],"type":">u2"})", pixels)), "dtype: "));
  CHECK(contains(why(describe("array10", "rubbish", pixels)), "not_json: "));
  CHECK(contains(why(describe("array10", SlsText().str(), pixels)), "bad_header: "));
  CHECK(contains(why(describe_message("array10", {})), "parts: "));
  for (const auto* shape :
       {"[0,3]", "[2,0]", "[1048577,1]", "[18446744073709551615,18446744073709551615]", "[6]"}) {
    const auto header = R"({"type":"uint16","shape":)" + std::string(shape) + "}";
    CHECK(contains(why(describe("array10", header, pixels)), "from 1 to 1048576"));
    CHECK(contains(why(describe("array10", header, {})), ""));
  }
  CHECK(contains(why(describe("array10", R"({"type":"uint16","shape":[0,0]})", {})), "geometry"));
}

TEST_CASE("sls: the port, the detector it belongs to, and what its values are") {
  SlsFrame frame;
  frame.shape = {4, 6};
  auto found = described_sls(frame);
  CHECK(found.frame.shape == FrameShape{4, 6});
  CHECK(found.frame.pixel_type == PixelType::u16);
  CHECK(found.detector == FrameShape{4, 6});
  CHECK(found.place == Place{0, 0, false});
  CHECK(found.jungfrau);
  CHECK(found.adc14);

  frame.det_type = sls_det_type::moench;
  CHECK_FALSE(described_sls(frame).jungfrau);
  CHECK(described_sls(frame).adc14);

  frame.det_type = sls_det_type::eiger;
  frame.detshape = {2, 4};
  frame.row = 1;
  frame.column = 3;
  frame.flip_rows = true;
  for (const auto& [bits, type] :
       {std::pair{8U, PixelType::u8}, {16U, PixelType::u16}, {32U, PixelType::u32}}) {
    frame.bitmode = bits;
    found = described_sls(frame);
    CHECK(found.frame.pixel_type == type);
    CHECK(found.detector == FrameShape{8, 24});
    CHECK(found.place == Place{4, 18, true});
    CHECK_FALSE(found.adc14);
  }
}

TEST_CASE("sls: a place outside of the detector that the header tells makes that larger, or is left out") {
  SlsFrame frame;
  frame.shape = {4, 6};
  frame.row = 2;
  CHECK(described_sls(frame).detector == FrameShape{12, 6});
  CHECK(described_sls(frame).place == Place{8, 0, false});
  frame.shape = {400, 6};
  frame.row = 60000;
  CHECK(described_sls(frame).detector == FrameShape{400, 6});
  CHECK_FALSE(described_sls(frame).place);
}

TEST_CASE("sls: packed pixels and another format are unusable and say why; an end marker is no frame yet") {
  const std::vector<std::byte> pixels(12);
  CHECK(contains(why(describe("sls", SlsText().set("bitmode", "12").set("size", "9").str(), pixels)),
                 "encoding: bitmode 12 is not built yet"));
  CHECK(contains(why(describe("sls", R"({"htype":"array-1.0","shape":[2,3],"type":"uint16"})", pixels)),
                 "unknown_message: "));
  const auto end = encode_sls_end();
  const MessagePart parts[] = {bytes_of(end)};
  CHECK(std::holds_alternative<NoFrameYet>(describe_message("sls", parts)));
}

TEST_CASE("a format that is not built or unknown") {
  CHECK_THROWS_AS(describe_message("odin", {}), std::invalid_argument);
  CHECK_THROWS_AS(describe_message("tiff", {}), std::invalid_argument);
}

TEST_CASE("20 000 damaged headers are described or not, and nothing throws") {
  std::vector<std::string> seeds;
  for (const auto* folder : {"array10", "sls"}) {
    for (const auto& file : vectors(folder)) seeds.push_back(file.second);
  }
  Mutator mutator(20261128, std::move(seeds));
  const std::vector<std::byte> pixels(12);
  int frames = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto description = describe(i % 2 == 0 ? "sls" : "array10", mutator.next(), pixels);
    if (const auto* frame = std::get_if<FrameDescription>(&description)) {
      ++frames;
      REQUIRE(frame->frame.bytes() == pixels.size());
      REQUIRE(frame->detector.rows >= frame->frame.shape.rows);
      REQUIRE(frame->detector.cols >= frame->frame.shape.cols);
    }
  }
  CHECK(frames > 200);
}
