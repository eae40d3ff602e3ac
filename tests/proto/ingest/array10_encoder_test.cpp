#include "proto/ingest/array10_encoder.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "proto/ingest/array10_decoder.hpp"
#include "proto/json.hpp"
#include "tests/proto/support.hpp"

using namespace pixhist;
using test::bytes_of;

TEST_CASE("a header, byte for byte") {
  std::string header = "what was here before";
  encode_array10_header({{512, 1024}, PixelType::u16, 7, "r1"}, header);
  CHECK(header == R"({"htype":"array-1.0","shape":[512,1024],"type":"uint16","frame":7,"run":"r1"})");
  encode_array10_header({{1, 4294967295U}, PixelType::f64, {}, {}}, header);
  CHECK(header == R"({"htype":"array-1.0","shape":[1,4294967295],"type":"float64"})");
}

TEST_CASE("an end message, byte for byte") {
  CHECK(encode_array10_end("r1", 1000) == R"({"htype":"array-1.0","end":true,"run":"r1","frames":1000})");
  CHECK(encode_array10_end({}, {}) == R"({"htype":"array-1.0","end":true})");
}

TEST_CASE("a run's name is escaped, and bytes that are no UTF-8 still give JSON") {
  std::string header;
  for (const std::string_view run : {"a\"b\\c", "new\nline", "\xc2\xb5", "\xff\xfe"}) {
    encode_array10_header({{1, 1}, PixelType::u8, {}, run}, header);
    CHECK(nlohmann::json::accept(header));
    CHECK(nlohmann::json::accept(encode_array10_end(run, 0)));
  }
  encode_array10_header({{1, 1}, PixelType::u8, {}, "a\"b\\c"}, header);
  CHECK(parse_json(header).at("run") == "a\"b\\c");
}

TEST_CASE("what is encoded is decoded as it was meant, for every type and both ends of the numbers") {
  for (const auto type : {PixelType::u8, PixelType::u16, PixelType::u32, PixelType::i16, PixelType::i32,
                          PixelType::f32, PixelType::f64}) {
    const ExpectedFrame expected{{37, 53}, type};
    const std::vector<std::byte> pixels(expected.bytes());
    for (const std::uint64_t number : {0ULL, 1ULL << 53, ~0ULL}) {
      std::string header;
      encode_array10_header({expected.shape, type, number, "run \"1\"\n"}, header);
      const MessagePart parts[] = {bytes_of(header), pixels};
      const auto message = Array10Decoder(expected).decode(parts);
      REQUIRE(std::holds_alternative<FrameMessage>(message));
      const auto& info = std::get<FrameMessage>(message).info;
      CHECK(info.number == number);
      CHECK(info.run == make_run_key("run \"1\"\n"));
    }
  }
}

TEST_CASE("an encoded end is decoded as a mark") {
  const auto end = encode_array10_end("r", ~0ULL);
  const MessagePart parts[] = {bytes_of(end)};
  const auto message = Array10Decoder({{1, 1}, PixelType::u8}).decode(parts);
  REQUIRE(std::holds_alternative<ControlMessage>(message));
  CHECK(std::get<ControlMessage>(message).info.expected == ~0ULL);
  CHECK(std::get<ControlMessage>(message).info.run == make_run_key("r"));
}
