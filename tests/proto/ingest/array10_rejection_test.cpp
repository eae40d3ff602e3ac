#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "proto/ingest/array10_decoder.hpp"
#include "tests/proto/support.hpp"

using namespace pixhist;
using test::bytes_of;

namespace {

const std::vector<std::byte> six_pixels(12);

DecodedMessage decode_parts(std::span<const MessagePart> parts) {
  return Array10Decoder({{2, 3}, PixelType::u16}).decode(parts);
}

Rejection rejection_of(DecodedMessage message) {
  REQUIRE(std::holds_alternative<Rejection>(message));
  auto rejection = std::get<Rejection>(std::move(message));
  CHECK(rejection.message.size() <= 300);
  CHECK(test::is_printable(rejection.message));
  return rejection;
}

Rejection reject_frame(std::string_view header, std::span<const std::byte> blob = six_pixels) {
  const MessagePart parts[] = {bytes_of(header), blob};
  return rejection_of(decode_parts(parts));
}

Rejection reject_one(std::string_view header) {
  const MessagePart parts[] = {bytes_of(header)};
  return rejection_of(decode_parts(parts));
}

bool rejection_says(const Rejection& rejection, std::string_view text) {
  if (rejection.message.find(text) != std::string::npos) return true;
  MESSAGE("said: " << rejection.message);
  return false;
}

/// A header that is good but for one key.
std::string header_with(std::string_view key, std::string_view value) {
  std::string out = "{";
  for (const auto& [name, good] : {std::pair{"shape", "[2,3]"}, std::pair{"type", "\"uint16\""}}) {
    if (name != key) out += '"' + std::string(name) + "\":" + good + ',';
  }
  return out + '"' + std::string(key) + "\":" + std::string(value) + '}';
}

}  // namespace

TEST_CASE("not_json: whatever is no JSON text, with where it broke") {
  for (const auto* header :
       {"", " ", "{", "nonsense", "{\"shape\":[2,3]", "{\"shape\":[2,3],}", "{} {}", "{'a':1}", "\xff\xfe{}",
        "{\"a\":\"\xc3\x28\"}", "{\"a\":1e999}", "{\"a\":01}", "{\"a\":NaN}"}) {
    CAPTURE(header);
    CHECK(reject_frame(header).reason == RejectReason::not_json);
    CHECK(reject_one(header).reason == RejectReason::not_json);
  }
  CHECK(rejection_says(reject_frame("{\"shape\":[2,3}"), "column"));
  CHECK(reject_one("\xd9\xd9\xf7\xa9").reason == RejectReason::not_json);  // a CBOR stream on the wrong port
}

TEST_CASE("not_json: a zero byte does not end the text") {
  const std::string good = header_with("frame", "1");
  CHECK(rejection_says(reject_frame(good + std::string(1, '\0')), "zero byte"));
  CHECK(reject_frame(good + std::string(1, '\0') + "rubbish").reason == RejectReason::not_json);
}

TEST_CASE("not_json: nesting without end costs no stack") {
  CHECK(reject_frame(std::string(max_array10_header_bytes, '[')).reason == RejectReason::not_json);
  std::string objects;
  while (objects.size() + 5 <= max_array10_header_bytes) objects += "{\"a\":";
  CHECK(reject_frame(objects).reason == RejectReason::not_json);
}

TEST_CASE("bad_header: JSON, but no object") {
  for (const auto* header :
       {"[]", "1", "-1", "1.5", "\"x\"", "null", "true", R"([{"shape":[2,3],"type":"uint16"}])"}) {
    CAPTURE(header);
    CHECK(reject_frame(header).reason == RejectReason::bad_header);
    CHECK(reject_one(header).reason == RejectReason::bad_header);
  }
}

TEST_CASE("bad_header: shape or type is missing") {
  CHECK(rejection_says(reject_frame(R"({"type":"uint16"})"), "lacks `shape`"));
  CHECK(rejection_says(reject_frame(R"({"shape":[2,3]})"), "lacks `type`"));
  CHECK(reject_frame("{}").reason == RejectReason::bad_header);
  CHECK(reject_frame(R"({"x":{"shape":[2,3],"type":"uint16"}})").reason == RejectReason::bad_header);
}

TEST_CASE("bad_header: a value of the wrong kind, named with what is allowed") {
  const std::pair<const char*, std::vector<const char*>> wrong[] = {
      {"htype", {"1", "-1", "null", "true", "[]", "{}", "1.5"}},
      {"shape",
       {"6",
        "\"2x3\"",
        "null",
        "false",
        "{}",
        "[2,-3]",
        "[2.0,3]",
        "[2,3e0]",
        "[2,null]",
        "[2,[3]]",
        "[2,{}]",
        "[2,true]",
        R"(["2",""])",
        R"(["2","+3"])",
        R"(["2"," 3"])",
        R"(["2","3 "])",
        R"(["2","-3"])",
        R"(["2","0x3"])",
        R"(["2","3.0"])",
        R"(["2","99999999999999999999"])",
        "[2,18446744073709551616]"}},
      {"type", {"16", "null", "[\"uint16\"]", "{}", "true"}},
      {"frame", {"-1", "1.0", "1e3", "\"1\"", "null", "[1]", "{}", "true", "18446744073709551616"}},
      {"encoding", {"0", "false", "[]", "{}", "-1"}},
      {"compression", {"0", "true", "[\"none\"]", "{}", "1.5"}},
      {"run", {"1", "-1", "null", "[]", "{}", "true"}}};
  for (const auto& entry : wrong) {
    const auto& key = entry.first;
    const auto& values = entry.second;
    for (const auto* value : values) {
      CAPTURE(key);
      CAPTURE(value);
      const auto rejection = reject_frame(header_with(key, value));
      CHECK(rejection.reason == RejectReason::bad_header);
      CHECK(rejection_says(rejection, '`' + std::string(key) + "` must be "));
    }
  }
  CHECK(rejection_says(reject_frame(header_with("frame", "-12")), "an integer in [0, 2^64); it is -12"));
  CHECK(rejection_says(reject_frame(header_with("shape", "[2.5,3]")), "it holds 2.5"));
}

TEST_CASE("bad_header: a key that counts stands twice") {
  CHECK(rejection_says(reject_frame(R"({"shape":[2,3],"type":"uint16","frame":1,"frame":2})"),
                       "`frame` stands twice"));
  CHECK(rejection_says(reject_frame(R"({"shape":[2,3],"shape":[2,3],"type":"uint16"})"),
                       "`shape` stands twice"));
  CHECK(rejection_says(reject_one(R"({"end":true,"run":"a","run":"b"})"), "`run` stands twice"));
}

TEST_CASE("unknown_message: another htype, whatever the parts") {
  for (const auto* htype : {"dimage-1.0", "array-2.0", "array-", "", "ARRAY-1.0", "bsr_m-1.1"}) {
    CAPTURE(htype);
    const auto text = '"' + std::string(htype) + '"';
    CHECK(rejection_says(reject_frame(header_with("htype", text)), text));
    CHECK(reject_frame(header_with("htype", text)).reason == RejectReason::unknown_message);
    CHECK(reject_one(header_with("htype", text)).reason == RejectReason::unknown_message);
  }
}

TEST_CASE("parts: none, one that ends nothing, three") {
  CHECK(rejection_of(decode_parts({})).reason == RejectReason::parts);
  for (const auto* header :
       {R"({"htype":"array-1.0","shape":[2,3],"type":"uint16","frame":1})", "{}", R"({"end":false})",
        R"({"end":1})", R"({"end":"true"})", R"({"x":{"end":true}})"}) {
    CAPTURE(header);
    CHECK(reject_one(header).reason == RejectReason::parts);
  }
  const auto good = header_with("frame", "1");
  const MessagePart three[] = {bytes_of(good), six_pixels, {}};
  CHECK(rejection_of(decode_parts(three)).reason == RejectReason::parts);
}

TEST_CASE("bad_header: an end message whose run or frames is no such thing") {
  CHECK(rejection_says(reject_one(R"({"end":true,"run":7})"), "`run`"));
  CHECK(rejection_says(reject_one(R"({"end":true,"frames":-1})"), "`frames`"));
  CHECK(reject_one(R"({"end":true,"frames":"1000"})").reason == RejectReason::bad_header);
}

TEST_CASE("encoding: what is not raw is named") {
  for (const auto* key : {"encoding", "compression"}) {
    for (const auto* value : {"bslz4", "lz4"}) {
      const auto rejection = reject_frame(header_with(key, '"' + std::string(value) + '"'));
      CHECK(rejection.reason == RejectReason::encoding);
      CHECK(rejection_says(rejection, '"' + std::string(value) + "\" is not built yet"));
    }
    for (const auto* value : {"zstd", "None", "BSLZ4", "jpeg", " ", "little"}) {
      const auto rejection = reject_frame(header_with(key, '"' + std::string(value) + '"'));
      CHECK(rejection.reason == RejectReason::encoding);
      CHECK(rejection_says(rejection, '"' + std::string(value) + "\" is unknown"));
    }
  }
  const auto both = R"({"shape":[2,3],"type":"uint16","encoding":"none","compression":"lz4"})";
  CHECK(reject_frame(both).reason == RejectReason::encoding);
}

TEST_CASE("dtype: another type, big-endian, unknown") {
  const auto other = reject_frame(header_with("type", "\"uint32\""));
  CHECK(other.reason == RejectReason::dtype);
  CHECK(rejection_says(other, "\"uint32\"; the configured type is uint16"));
  for (const auto* type : {">u2", ">uint16", "big", "uint16-big"}) {
    const auto rejection = reject_frame(header_with("type", '"' + std::string(type) + '"'));
    CHECK(rejection.reason == RejectReason::dtype);
    CHECK(rejection_says(rejection, "big-endian"));
  }
  for (const auto* type : {"<u2", "u16", "uint64", "int8", "bool", "", "UINT16", "uint16 "}) {
    const auto rejection = reject_frame(header_with("type", '"' + std::string(type) + '"'));
    CHECK(rejection.reason == RejectReason::dtype);
    CHECK(rejection_says(rejection, "not a known type; allowed, little-endian: uint8 uint16"));
    CHECK(rejection_says(rejection, "configured type is uint16"));
  }
}

TEST_CASE("geometry: both shapes are named") {
  const std::pair<const char*, const char*> shapes[] = {
      {"[3,2]", "[3, 2]"},
      {"[2,4]", "[2, 4]"},
      {"[]", "[]"},
      {"[6]", "[6]"},
      {"[2,2,3]", "[2, 2, 3]"},
      {"[1,1,2,3]", "[1, 1, 2, 3]"},
      {"[1,2]", "[1, 2]"},
      {"[0,0]", "[0, 0]"},
      {"[1,2,3,4,5]", "[1, 2, 3, 4, ...]"},
      {"[4294967298,3]", "[4294967298, 3]"},  // 2 modulo 2^32
      {"[18446744073709551615,18446744073709551615]", "[18446744073709551615, 18446744073709551615]"}};
  for (const auto& entry : shapes) {
    const auto& shape = entry.first;
    const auto& shown = entry.second;
    CAPTURE(shape);
    const auto rejection = reject_frame(header_with("shape", shape));
    CHECK(rejection.reason == RejectReason::geometry);
    CHECK(rejection_says(rejection, "shape " + std::string(shown) + "; the configured shape is [2, 3]"));
  }
}

TEST_CASE("size: the pixel part must have exactly the bytes of the shape") {
  const auto header = header_with("frame", "1");
  for (const std::size_t bytes : {0, 1, 11, 13, 24}) {
    const std::vector<std::byte> blob(bytes);
    const auto rejection = reject_frame(header, blob);
    CHECK(rejection.reason == RejectReason::size);
    CHECK(
        rejection_says(rejection, "has " + std::to_string(bytes) + " bytes; [2, 3] uint16 needs exactly 12"));
  }
}

TEST_CASE("too_large: a header beyond 64 KiB is not looked at") {
  const auto rejection = reject_frame(header_with("frame", "1") + std::string(max_array10_header_bytes, ' '));
  CHECK(rejection.reason == RejectReason::too_large);
  CHECK(rejection_says(rejection, "65536"));
  CHECK(reject_one(std::string(max_array10_header_bytes + 1, 'x')).reason == RejectReason::too_large);
}

TEST_CASE("reasons are judged in the order of the page: the first that applies") {
  const std::vector<std::byte> none;
  CHECK(reject_frame(R"({"htype":"x","shape":-1})", none).reason == RejectReason::unknown_message);
  CHECK(reject_frame(R"({"shape":-1,"type":">u2","encoding":"lz4"})", none).reason ==
        RejectReason::bad_header);
  CHECK(reject_frame(R"({"shape":[9,9],"type":">u2","encoding":"lz4"})", none).reason ==
        RejectReason::encoding);
  CHECK(reject_frame(R"({"shape":[9,9],"type":">u2"})", none).reason == RejectReason::dtype);
  CHECK(reject_frame(R"({"shape":[9,9],"type":"uint16"})", none).reason == RejectReason::geometry);
}

TEST_CASE("hostile text in a header comes out short and printable") {
  const std::string hostile = "\\u001b[2J\\n\\u0000\\u202e" + std::string(50000, 'A');
  CHECK(rejection_says(reject_frame(header_with("type", '"' + hostile + '"')), "\\x1b[2J\\x0a\\x00"));
  CHECK(rejection_says(reject_frame(header_with("encoding", '"' + hostile + '"')), "..."));
  CHECK(rejection_says(reject_frame(header_with("htype", '"' + hostile + '"')), "..."));
  CHECK(rejection_says(reject_frame(header_with("frame", '"' + hostile + '"')), "..."));
  CHECK(rejection_says(reject_frame(header_with("frame", std::string(50000, '7'))), "..."));
  CHECK(rejection_says(reject_frame("{\"\x1b[2J" + std::string(50000, '\xff')), "..."));
}
