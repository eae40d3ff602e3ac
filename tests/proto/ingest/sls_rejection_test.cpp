#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "proto/ingest/sls_decoder.hpp"
#include "proto/ingest/sls_encoder.hpp"
#include "tests/proto/ingest/sls_support.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

Rejection rejection_of(DecodedMessage message) {
  REQUIRE(std::holds_alternative<Rejection>(message));
  auto rejection = std::get<Rejection>(std::move(message));
  CHECK(rejection.message.size() <= 300);
  CHECK(is_printable(rejection.message));
  return rejection;
}

Rejection reject_frame(const std::string& header, const ExpectedFrame& expected = sls_expected,
                       std::span<const std::byte> pixels = sls_pixels) {
  return rejection_of(decode_sls(header, expected, pixels));
}

Rejection reject_one(const std::string& header) {
  SlsDecoder decoder(sls_expected);
  return rejection_of(decode_sls_one(decoder, header));
}

bool sls_says(const Rejection& rejection, std::string_view text) {
  if (rejection.message.find(text) != std::string::npos) return true;
  MESSAGE("said: " << rejection.message);
  return false;
}

}  // namespace

TEST_CASE("not_json: unescaped quotes and backslashes cost that frame, with a word on why") {
  for (const auto* name : {"broken_name.json", "broken_additional.json"}) {
    const auto rejection = reject_frame(vectors("sls").at(name));
    CHECK(rejection.reason == RejectReason::not_json);
    CHECK(sls_says(rejection, "column"));
    CHECK(sls_says(rejection, "escape nothing"));
  }
  SlsDecoder decoder(sls_expected);
  CHECK(std::holds_alternative<Rejection>(decode_sls(decoder, vectors("sls").at("broken_name.json"))));
  sls_frame(decode_sls(decoder, SlsText().str()));
}

TEST_CASE("not_json: whatever is no JSON text") {
  for (const auto& header : std::vector<std::string>{
           "", "{", "nonsense", "{} {}", "\xd9\xd9\xf7\xa9", sls_with("progress", "inf"),
           sls_with("progress", "nan"), SlsText().str() + std::string(1, '\0'), SlsText().str() + "x",
           sls_with("fname", "\"\xff\""), std::string(max_sls_header_bytes, '[')}) {
    CHECK(reject_frame(header).reason == RejectReason::not_json);
    CHECK(reject_one(header).reason == RejectReason::not_json);
  }
}

TEST_CASE("parts: none, three, a frame with one, an end marker with two") {
  SlsDecoder decoder(sls_expected);
  CHECK(rejection_of(decoder.decode({})).reason == RejectReason::parts);
  const auto header = SlsText().str();
  const MessagePart three[] = {bytes_of(header), sls_pixels, {}};
  CHECK(rejection_of(decoder.decode(three)).reason == RejectReason::parts);
  CHECK(reject_one(header).reason == RejectReason::parts);
  CHECK(sls_says(reject_one(header), "`data` is 1 and there is 1 part"));
  CHECK(reject_frame(encode_sls_end()).reason == RejectReason::parts);
  CHECK(reject_frame(encode_sls_end(), sls_expected, {}).reason == RejectReason::parts);
}

TEST_CASE("too_large: a header beyond 64 KiB is not looked at, one of 64 KiB is read") {
  std::string header = SlsText().str();
  header += std::string(max_sls_header_bytes - header.size(), ' ');
  sls_frame(decode_sls(header));
  CHECK(reject_frame(header + ' ').reason == RejectReason::too_large);
  CHECK(sls_says(reject_frame(header + ' '), "65537"));
  CHECK(reject_one(std::string(max_sls_header_bytes + 1, 'x')).reason == RejectReason::too_large);
}

TEST_CASE("bad_header: JSON, but no object") {
  for (const auto* header : {"[]", "1", "\"x\"", "null", R"([{"jsonversion":5}])"}) {
    CHECK(reject_frame(header).reason == RejectReason::bad_header);
    CHECK(reject_one(header).reason == RejectReason::bad_header);
  }
}

TEST_CASE("bad_header: another jsonversion, with those that are read") {
  for (const auto* version : {"0", "1", "2", "3", "6", "4294967295"}) {
    const auto header = sls_with("jsonversion", version);
    CHECK(reject_frame(header).reason == RejectReason::bad_header);
    CHECK(sls_says(reject_frame(header), "jsonversion " + std::string(version) + "; allowed: 4 "));
    CHECK(sls_says(reject_frame(header), " and 5 "));
    CHECK(reject_one(header).reason == RejectReason::bad_header);
  }
  CHECK(sls_says(reject_one(R"({"data":0})"), "lacks `jsonversion`"));
  CHECK(sls_says(reject_one(R"({"jsonversion":5})"), "lacks `data`"));
}

TEST_CASE("bad_header: a key is missing") {
  for (const auto* key : {"jsonversion", "bitmode", "fileIndex", "shape", "size", "frameIndex", "fname",
                          "data", "completeImage", "frameNumber", "row", "column", "detType"}) {
    CAPTURE(key);
    const auto rejection = reject_frame(sls_with(key, ""));
    CHECK(rejection.reason == RejectReason::bad_header);
    CHECK(sls_says(rejection, "lacks `" + std::string(key) + '`'));
  }
}

TEST_CASE("bad_header: a value of the wrong kind or out of range, named with what is allowed") {
  const std::vector<const char*> kinds{"-1", "1.0", "1e0", "null", "true", "\"1\"", "[1]", "{}"};
  const std::pair<const char*, const char*> beyond[] = {{"jsonversion", "4294967296"},
                                                        {"bitmode", "4294967296"},
                                                        {"fileIndex", "18446744073709551616"},
                                                        {"size", "18446744073709551616"},
                                                        {"frameIndex", "18446744073709551616"},
                                                        {"data", "2"},
                                                        {"completeImage", "2"},
                                                        {"frameNumber", "18446744073709551616"},
                                                        {"row", "65536"},
                                                        {"column", "65536"},
                                                        {"detType", "256"},
                                                        {"flipRows", "2"}};
  for (const auto& entry : beyond) {
    auto values = kinds;
    values.push_back(entry.second);
    for (const auto* value : values) {
      CAPTURE(entry.first);
      CAPTURE(value);
      const auto rejection = reject_frame(sls_with(entry.first, value));
      CHECK(rejection.reason == RejectReason::bad_header);
      CHECK(sls_says(rejection, '`' + std::string(entry.first) + "` must be "));
    }
  }
  for (const auto* value : {"1", "null", "[]", "{}", "false"}) {
    CHECK(sls_says(reject_frame(sls_with("fname", value)), "`fname` must be a string"));
  }
  for (const auto* value : {"6", "\"3x2\"", "null", "{}", "[3,-2]", "[3.0,2]", "[\"3\",2]", "[3,[2]]",
                            "[3,null]", "[3,18446744073709551616]"}) {
    CAPTURE(value);
    CHECK(reject_frame(sls_with("shape", value)).reason == RejectReason::bad_header);
    CHECK(sls_says(reject_frame(sls_with("shape", value)), "`shape` must be [columns, rows]"));
  }
  CHECK(sls_says(reject_frame(sls_with("flippedDataX", "2")), "`flipRows`"));
  CHECK(sls_says(reject_frame(sls_with("row", "-12")), "an integer in [0, 65535]; it is -12"));
}

TEST_CASE("bad_header: a key that counts stands twice, also under its old name") {
  for (const auto* key : {"jsonversion", "bitmode", "fileIndex", "shape", "size", "frameIndex", "fname",
                          "data", "completeImage", "frameNumber", "row", "column", "detType", "flipRows"}) {
    const std::string again = std::string("{\"") + key + "\":" +
                              (key == std::string("fname")   ? "\"/a\""
                               : key == std::string("shape") ? "[3,2]"
                                                             : "1");
    const auto rejection = reject_frame(again + ',' + SlsText().str().substr(1));
    CAPTURE(key);
    CHECK(rejection.reason == RejectReason::bad_header);
    CHECK(sls_says(rejection, '`' + std::string(key) + "` stands twice"));
  }
  CHECK(sls_says(reject_frame(sls_with("flippedDataX", "0")), "`flipRows` stands twice"));
}

TEST_CASE("unknown_message: other formats on this port") {
  for (const auto* header : {R"({"htype":"array-1.0","shape":[2,3],"type":"uint16","frame":1})",
                             R"({"htype":"module","port":1,"frameIndex":0})", R"({"htype":"series_end"})"}) {
    CAPTURE(header);
    CHECK(reject_frame(header).reason == RejectReason::unknown_message);
    CHECK(reject_one(header).reason == RejectReason::unknown_message);
  }
  CHECK(sls_says(reject_one(R"({"htype":"series_end"})"), "\"series_end\""));
  // Next to a jsonversion it is a key like any other.
  sls_frame(decode_sls(sls_with("htype", "7")));
}

TEST_CASE("encoding: packed bit depths are not built yet, others are unknown") {
  for (const auto& [bits, size] : {std::pair{"4", "3"}, {"12", "9"}}) {
    const auto rejection = reject_frame(SlsText().set("bitmode", bits).set("size", size).str());
    CHECK(rejection.reason == RejectReason::encoding);
    CHECK(sls_says(rejection, "bitmode " + std::string(bits) + " is not built yet; allowed: 8, 16 and 32"));
  }
  for (const auto* bits : {"0", "1", "10", "14", "24", "64", "4294967295"}) {
    const auto rejection = reject_frame(sls_with("bitmode", bits));
    CHECK(rejection.reason == RejectReason::encoding);
    CHECK(sls_says(rejection, "is unknown"));
  }
}

TEST_CASE("dtype: another size than the configured type's, or a type that is no integer") {
  for (const auto* bits : {"8", "32"}) {
    const auto rejection = reject_frame(sls_with("bitmode", bits));
    CHECK(rejection.reason == RejectReason::dtype);
    CHECK(sls_says(rejection, "the configured type is uint16"));
  }
  for (const auto type : {PixelType::f32, PixelType::f64, PixelType::u8}) {
    const ExpectedFrame expected{{2, 3}, type};
    const std::vector<std::byte> pixels(expected.bytes());
    const auto header = SlsText().set("bitmode", "32").set("size", std::to_string(expected.bytes())).str();
    CHECK(reject_frame(header, expected, pixels).reason == RejectReason::dtype);
  }
}

TEST_CASE("geometry: [columns, rows], and nothing else") {
  const std::pair<const char*, const char*> shapes[] = {
      {"[2, 3]", "[2, 3]"},
      {"[6, 1]", "[6, 1]"},
      {"[3]", "[3]"},
      {"[]", "[]"},
      {"[3, 2, 1]", "[3, 2, ...]"},
      {"[1, 3, 2]", "[1, 3, ...]"},
      {"[0, 0]", "[0, 0]"},
      {"[3, 4294967298]", "[3, 4294967298]"},
      {"[18446744073709551615, 2]", "[18446744073709551615, 2]"}};
  for (const auto& entry : shapes) {
    CAPTURE(entry.first);
    const auto rejection = reject_frame(sls_with("shape", entry.first));
    CHECK(rejection.reason == RejectReason::geometry);
    CHECK(sls_says(rejection, "shape " + std::string(entry.second) + " (columns, rows)"));
    CHECK(sls_says(rejection, "the configured shape is [2, 3] (rows, cols)"));
  }
}

TEST_CASE("geometry: a place that ends beyond 2^32 - 1 pixels") {
  const ExpectedFrame tall{{65537, 1}, PixelType::u8};
  const std::vector<std::byte> pixels(tall.bytes());
  const auto header = [](const char* row, const char* column) {
    return SlsText()
        .set("shape", "[1, 65537]")
        .set("bitmode", "8")
        .set("size", "65537")
        .set("row", row)
        .set("column", column)
        .str();
  };
  // 65535 * 65537 = 2^32 - 1: the port's first row is there, its last is not.
  CHECK(reject_frame(header("65535", "0"), tall, pixels).reason == RejectReason::geometry);
  CHECK(sls_says(reject_frame(header("65535", "7"), tall, pixels), "row 65535, column 7"));
  CHECK(sls_frame(decode_sls(header("65534", "0"), tall, pixels)).place == Place{4294901758U, 0, false});
  const ExpectedFrame wide{{1, 65537}, PixelType::u8};
  const auto wide_header = SlsText()
                               .set("shape", "[65537, 1]")
                               .set("bitmode", "8")
                               .set("size", "65537")
                               .set("column", "65535")
                               .str();
  CHECK(reject_frame(wide_header, wide, pixels).reason == RejectReason::geometry);
}

TEST_CASE("size: part, header and shape must agree") {
  const auto sized = [](const char* said, std::size_t bytes) {
    const std::vector<std::byte> pixels(bytes);
    return reject_frame(sls_with("size", said), sls_expected, pixels);
  };
  CHECK(sized("12", 11).reason == RejectReason::size);
  CHECK(sized("12", 13).reason == RejectReason::size);
  CHECK(sized("12", 0).reason == RejectReason::size);
  CHECK(sized("11", 12).reason == RejectReason::size);  // the header alone is wrong
  CHECK(sized("8", 8).reason == RejectReason::size);    // a second interface that sends no image
  CHECK(sized("18446744073709551615", 12).reason == RejectReason::size);
  CHECK(sls_says(sized("160", 160), "has 160 bytes, the header says 160; [2, 3] uint16 needs exactly 12"));
}

TEST_CASE("reasons are judged in the order of the page: the first that applies") {
  const auto all = SlsText()
                       .set("jsonversion", "3")
                       .set("row", "-1")
                       .set("bitmode", "12")
                       .set("shape", "[9, 9]")
                       .set("size", "1");
  auto text = all;
  CHECK(reject_one(text.str()).reason == RejectReason::bad_header);
  text.set("jsonversion", "5");
  CHECK(reject_one(text.str()).reason == RejectReason::parts);
  CHECK(reject_frame(text.str()).reason == RejectReason::bad_header);
  text.set("row", "65535");
  CHECK(reject_frame(text.str()).reason == RejectReason::encoding);
  text.set("bitmode", "32");
  CHECK(reject_frame(text.str()).reason == RejectReason::dtype);
  text.set("bitmode", "16");
  CHECK(reject_frame(text.str()).reason == RejectReason::geometry);
  text.set("shape", "[3, 2]");
  CHECK(reject_frame(text.str()).reason == RejectReason::size);
  text.set("size", "12");
  sls_frame(decode_sls(text.str()));
}
