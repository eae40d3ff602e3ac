#include "proto/ingest/array10_decoder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/proto/support.hpp"

using namespace pixhist;
using test::bytes_of;

namespace {

constexpr ExpectedFrame expected_u16{{2, 3}, PixelType::u16};
const std::vector<std::byte> twelve_bytes(12);

DecodedMessage decode(std::string_view header, const ExpectedFrame& expected = expected_u16,
                      std::span<const std::byte> blob = twelve_bytes) {
  const MessagePart parts[] = {bytes_of(header), blob};
  return Array10Decoder(expected).decode(parts);
}

DecodedMessage decode_one(std::string_view header) {
  const MessagePart parts[] = {bytes_of(header)};
  return Array10Decoder(expected_u16).decode(parts);
}

/// The message must be a frame; anything else fails the test with the rejection's text.
RecordInfo frame_info(const DecodedMessage& message) {
  if (const auto* rejection = std::get_if<Rejection>(&message)) FAIL(rejection->message);
  REQUIRE(std::holds_alternative<FrameMessage>(message));
  return std::get<FrameMessage>(message).info;
}

}  // namespace

TEST_CASE("a std_daq frame: number, no run, and the payload is the second part itself") {
  const auto message = decode(R"({"htype":"array-1.0","shape":[2,3],"type":"uint16","frame":4242})");
  const auto info = frame_info(message);
  CHECK(info.kind == RecordKind::frame);
  CHECK(info.encoding == Encoding::raw);
  CHECK(info.flags == frame_flags::complete);
  CHECK(info.tag == 0);
  CHECK(info.has_number);
  CHECK(info.number == 4242);
  CHECK_FALSE(info.run.present());
  const auto payload = std::get<FrameMessage>(message).payload;
  CHECK(payload.data() == twelve_bytes.data());
  CHECK(payload.size() == 12);
}

TEST_CASE("every good file in vectors/array10 is taken") {
  int frames = 0;
  for (const auto& entry : test::vectors("array10")) {
    const auto& name = entry.first;
    const auto& header = entry.second;
    if (!name.starts_with("frame_")) continue;
    CAPTURE(name);
    frame_info(decode(header));
    ++frames;
  }
  CHECK(frames >= 5);
}

TEST_CASE("frame numbers are exact to 64 bits, and may be absent") {
  const auto number = [](const char* text) {
    return frame_info(decode(R"({"shape":[2,3],"type":"uint16","frame":)" + std::string(text) + "}"));
  };
  CHECK(number("0").number == 0);
  CHECK(number("-0").number == 0);
  CHECK(number("9007199254740993").number == 9007199254740993ULL);  // 2^53 + 1: no double holds it
  CHECK(number("18446744073709551615").number == 18446744073709551615ULL);
  CHECK(number("18446744073709551615").has_number);
  CHECK_FALSE(frame_info(decode(R"({"shape":[2,3],"type":"uint16"})")).has_number);
}

TEST_CASE("shape: integers, decimal strings, and one leading 1 of three") {
  for (const auto* shape :
       {"[2,3]", R"(["2","3"])", R"([2,"3"])", "[1,2,3]", R"(["1","2","3"])", R"(["02","3"])"}) {
    CAPTURE(shape);
    frame_info(decode(R"({"type":"uint16","shape":)" + std::string(shape) + "}"));
  }
  const ExpectedFrame one_row{{1, 6}, PixelType::u16};
  frame_info(decode(R"({"type":"uint16","shape":[1,6]})", one_row));
  frame_info(decode(R"({"type":"uint16","shape":[1,1,6]})", one_row));
}

TEST_CASE("each pixel type by its NumPy name") {
  const std::pair<const char*, PixelType> types[] = {{"uint8", PixelType::u8},   {"uint16", PixelType::u16},
                                                     {"uint32", PixelType::u32}, {"int16", PixelType::i16},
                                                     {"int32", PixelType::i32},  {"float32", PixelType::f32},
                                                     {"float64", PixelType::f64}};
  for (const auto& entry : types) {
    const auto& name = entry.first;
    const auto& type = entry.second;
    CAPTURE(name);
    const ExpectedFrame expected{{2, 3}, type};
    const std::vector<std::byte> blob(expected.bytes());
    frame_info(decode(R"({"shape":[2,3],"type":")" + std::string(name) + "\"}", expected, blob));
  }
}

TEST_CASE("no compression, said in every allowed way") {
  for (const auto* key : {"encoding", "compression"}) {
    for (const auto* value : {R"("")", R"("none")", R"("raw")", "null"}) {
      CAPTURE(key);
      CAPTURE(value);
      frame_info(decode(R"({"shape":[2,3],"type":"uint16",")" + std::string(key) + "\":" + value + "}"));
    }
  }
}

TEST_CASE("run: the same text is the same key, another text another, the empty text is a key") {
  const auto run = [](std::string_view text) {
    return frame_info(decode(R"({"shape":[2,3],"type":"uint16","run":")" + std::string(text) + "\"}")).run;
  };
  CHECK(run("a") == make_run_key("a"));
  CHECK(run("a") == run("\\u0061"));
  CHECK_FALSE(run("a") == run("b"));
  CHECK(run("").present());
}

TEST_CASE("unknown keys are skipped at any depth, also where names of ours stand inside") {
  frame_info(decode(R"({"x":{"shape":[9,9],"type":"int8","frame":-1},"shape":[2,3],"y":[[{"htype":"no"}]],)"
                    R"("type":"uint16","z":-1.5e3,"encodings":"zstd"})"));
  const std::string deep =
      R"({"shape":[2,3],"type":"uint16","x":)" + std::string(30000, '[') + std::string(30000, ']') + "}";
  frame_info(decode(deep));
}

TEST_CASE("a frame may use `end` and `frames` as it likes") {
  frame_info(decode(R"({"shape":[2,3],"type":"uint16","end":"never","frames":-1})"));
  frame_info(decode(R"({"shape":[2,3],"type":"uint16","end":true})"));
}

TEST_CASE("white space and a byte order mark around the object are no fault") {
  frame_info(decode(" \r\n\t{ \"shape\" : [ 2 , 3 ] , \"type\" : \"uint16\" }\n"));
  frame_info(decode("\xef\xbb\xbf{\"shape\":[2,3],\"type\":\"uint16\"}"));
}

TEST_CASE("a header of exactly 64 KiB is read") {
  std::string header = R"({"shape":[2,3],"type":"uint16","pad":")";
  header += std::string(max_array10_header_bytes - header.size() - 2, 'x') + "\"}";
  REQUIRE(header.size() == max_array10_header_bytes);
  frame_info(decode(header));
}

TEST_CASE("the one-part end message is a mark with the number of frames") {
  const auto message = decode_one(R"({"htype":"array-1.0","end":true,"run":"r1","frames":1000})");
  REQUIRE(std::holds_alternative<ControlMessage>(message));
  const auto& control = std::get<ControlMessage>(message);
  CHECK(control.mark);
  CHECK(control.info.kind == RecordKind::run_end);
  CHECK(control.info.run == make_run_key("r1"));
  CHECK(control.info.has_expected);
  CHECK(control.info.expected == 1000);
  CHECK_FALSE(control.info.has_number);
}

TEST_CASE("an end message needs neither run nor frames nor htype") {
  const auto message = decode_one(R"({"end":true})");
  REQUIRE(std::holds_alternative<ControlMessage>(message));
  const auto& control = std::get<ControlMessage>(message);
  CHECK(control.mark);
  CHECK_FALSE(control.info.run.present());
  CHECK_FALSE(control.info.has_expected);
}

TEST_CASE("a decoder keeps nothing of the message before") {
  Array10Decoder decoder(expected_u16);
  const std::string with_all = R"({"shape":[2,3],"type":"uint16","frame":7,"run":"r"})";
  const std::string bare = R"({"shape":[2,3],"type":"uint16"})";
  const MessagePart first[] = {bytes_of(with_all), twelve_bytes};
  const MessagePart second[] = {bytes_of(bare), twelve_bytes};
  CHECK(frame_info(decoder.decode(first)).has_number);
  const auto info = frame_info(decoder.decode(second));
  CHECK_FALSE(info.has_number);
  CHECK(info.number == 0);
  CHECK_FALSE(info.run.present());
  CHECK(decoder.max_parts() == 2);
}
