#include "proto/ingest/sls_decoder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "proto/ingest/sls_encoder.hpp"
#include "tests/proto/ingest/sls_support.hpp"

using namespace pixhist;
using namespace pixhist::test;

namespace {

std::string vector_file(const std::string& name) { return vectors("sls").at(name); }

FrameMessage frame_of(const std::string& header) { return sls_frame(decode_sls(header)); }

void check_end(const DecodedMessage& message) {
  REQUIRE(std::holds_alternative<ControlMessage>(message));
  const auto& control = std::get<ControlMessage>(message);
  CHECK(control.mark);
  CHECK(control.info.kind == RecordKind::run_end);
  CHECK_FALSE(control.info.run.present());
  CHECK_FALSE(control.info.has_expected);
  CHECK_FALSE(control.info.has_number);
}

RunKey run_in(SlsDecoder& decoder, const SlsText& header) {
  return sls_frame(decode_sls(decoder, header.str())).info.run;
}

SlsText numbered(std::uint64_t number, std::uint64_t index) {
  return SlsText().set("frameNumber", std::to_string(number)).set("frameIndex", std::to_string(index));
}

}  // namespace

TEST_CASE("a jungfrau frame: number, run, place, and the payload is the second part itself") {
  const auto frame = frame_of(vector_file("frame_jungfrau.json"));
  CHECK(frame.info.kind == RecordKind::frame);
  CHECK(frame.info.encoding == Encoding::raw);
  CHECK(frame.info.flags == frame_flags::complete);
  CHECK(frame.info.tag == 0);
  CHECK(frame.info.has_number);
  CHECK(frame.info.number == 4242);
  CHECK(frame.info.run.present());
  CHECK(frame.payload.data() == sls_pixels.data());
  CHECK(frame.payload.size() == 12);
  CHECK(frame.place == Place{0, 0, false});
  CHECK(SlsDecoder(sls_expected).max_parts() == 2);
}

TEST_CASE("every file in vectors/sls is what its name says") {
  int frames = 0;
  int ends = 0;
  int broken = 0;
  for (const auto& entry : vectors("sls")) {
    const auto& name = entry.first;
    CAPTURE(name);
    SlsDecoder decoder(sls_expected);
    if (name.starts_with("frame_")) {
      CHECK(sls_frame(decode_sls(decoder, entry.second)).info.number >= 4242);
      ++frames;
    } else if (name.starts_with("end_")) {
      check_end(decode_sls_one(decoder, entry.second));
      ++ends;
    } else {
      const auto message = decode_sls(decoder, entry.second);
      REQUIRE(std::holds_alternative<Rejection>(message));
      CHECK(std::get<Rejection>(message).reason == RejectReason::not_json);
      ++broken;
    }
  }
  CHECK(frames == 13);
  CHECK(ends == 3);
  CHECK(broken == 2);
}

TEST_CASE("all versions say the same of the same frame") {
  const auto now = frame_of(vector_file("frame_jungfrau.json"));
  for (const auto* name : {"frame_5.0.json", "frame_6.0.json", "frame_7.0.json", "frame_additional.json",
                           "frame_stale_roi.json"}) {
    CAPTURE(name);
    const auto then = frame_of(vector_file(name));
    CHECK(then.info.run == now.info.run);
    CHECK(then.info.number == now.info.number);
    CHECK(then.place == now.place);
  }
}

TEST_CASE("the place is row and column times the port's shape") {
  const auto place = [](const char* row, const char* column) {
    return frame_of(SlsText().set("row", row).set("column", column).str()).place;
  };
  CHECK(place("0", "0") == Place{0, 0, false});
  CHECK(place("1", "0") == Place{2, 0, false});
  CHECK(place("0", "1") == Place{0, 3, false});
  CHECK(place("65535", "65535") == Place{131070, 196605, false});
}

TEST_CASE("rows are turned over on eiger only, quad or not") {
  const auto flipped = [](const char* type, const char* flip, const char* quad) {
    return frame_of(SlsText().set("detType", type).set("flipRows", flip).set("quad", quad).str())
        .place->flip_rows;
  };
  for (const auto* quad : {"0", "1"}) {
    CHECK(flipped("1", "1", quad));
    CHECK_FALSE(flipped("1", "0", quad));
    for (const auto* other : {"0", "2", "3", "4", "5", "6", "7", "8", "255"})
      CHECK_FALSE(flipped(other, "1", quad));
  }
  CHECK(frame_of(vector_file("frame_eiger_flipped.json")).place == Place{2, 3, true});
  CHECK(frame_of(vector_file("frame_eiger_quad.json")).place == Place{2, 0, true});
  const auto old = SlsText().set("flipRows", "").set("flippedDataX", "1").set("detType", "1").str();
  CHECK(frame_of(old).place->flip_rows);
  CHECK_FALSE(frame_of(SlsText().set("flipRows", "").set("detType", "1").str()).place->flip_rows);
}

TEST_CASE("lost packets take the flag `complete`, nothing else") {
  const auto lost = frame_of(vector_file("frame_incomplete.json"));
  const auto whole = frame_of(vector_file("frame_jungfrau.json"));
  CHECK(lost.info.flags == 0);
  CHECK(lost.info.number == whole.info.number);
  CHECK(lost.info.run == whole.info.run);
  CHECK(lost.payload.size() == whole.payload.size());
  // A frame with no packet at all: what the detector would have filled in is 0.
  CHECK(frame_of(SlsText().set("completeImage", "0").set("packetNumber", "0").str()).info.flags == 0);
}

TEST_CASE("bitmode is the size of every integer type") {
  const std::pair<const char*, PixelType> types[] = {{"8", PixelType::u8},
                                                     {"16", PixelType::u16},
                                                     {"32", PixelType::u32},
                                                     {"16", PixelType::i16},
                                                     {"32", PixelType::i32}};
  for (const auto& [bits, type] : types) {
    const ExpectedFrame expected{{2, 3}, type};
    const std::vector<std::byte> pixels(expected.bytes());
    const auto header = SlsText().set("bitmode", bits).set("size", std::to_string(expected.bytes())).str();
    CHECK(sls_frame(decode_sls(header, expected, pixels)).payload.size() == expected.bytes());
  }
}

TEST_CASE("numbers are exact to 64 bits") {
  CHECK(frame_of(sls_with("frameNumber", "9007199254740993")).info.number == 9007199254740993ULL);
  CHECK(frame_of(sls_with("frameNumber", "18446744073709551615")).info.number == ~0ULL);
  CHECK(frame_of(vector_file("frame_largest_numbers.json")).info.number == ~0ULL);
}

TEST_CASE("other keys are passed over, whatever they hold, also with names of ours inside") {
  frame_of(sls_with("addJsonHeader", R"({"energy":"12.4", "shape":"x", "data":"0", "bitmode":"no"})"));
  frame_of(sls_with("rx_roi", "[-1, -1, -1, -1]"));
  frame_of(sls_with("rx_roi", ""));
  frame_of(sls_with("progress", "1e-05"));
  frame_of(sls_with("somethingNew", "[[{\"data\":0}], null, -1.5]"));
  frame_of(sls_with("detshape", "\"?\""));
  frame_of("  " + SlsText().str() + " \n");
}

TEST_CASE("an end marker is told by `data` alone") {
  SlsDecoder decoder(sls_expected);
  check_end(decode_sls_one(decoder, encode_sls_end()));  // before any frame
  sls_frame(decode_sls(decoder, SlsText().str()));
  for (int i = 0; i < 3; ++i) check_end(decode_sls_one(decoder, encode_sls_end()));
  check_end(decode_sls_one(decoder, sls_with("data", "0")));
  check_end(decode_sls_one(decoder, R"({"jsonversion":4,"data": 0})"));
  // What is wrong with keys that it does not need is no fault of an end marker.
  check_end(decode_sls_one(decoder, SlsText().set("data", "0").set("shape", "7").set("row", "-1").str()));
}

TEST_CASE("run: the same in an acquisition, another for another name, index or first number") {
  std::set<std::uint64_t> keys;
  const auto key = [&](const SlsText& header) {
    SlsDecoder decoder(sls_expected);
    return run_in(decoder, header).hash[0];
  };
  CHECK(key(numbered(100, 0)) == key(numbered(101, 1)));
  CHECK(key(numbered(100, 0)) == key(numbered(~0ULL, ~0ULL - 100)));
  CHECK(key(SlsText().set("fname", "\"/a\"")) == key(SlsText().set("fname", R"("\/\u0061")")));
  for (const auto& header : {SlsText(), SlsText().set("fname", "\"/b\""), SlsText().set("fname", "\"\""),
                             SlsText().set("fileIndex", "4"), SlsText().set("frameIndex", "40"),
                             SlsText().set("frameNumber", "4244"), numbered(0, 1)}) {
    keys.insert(key(header));
  }
  CHECK(keys.size() == 7);
}

TEST_CASE("run: ports of one acquisition may have different ones, since the first frame is each port's own") {
  SlsDecoder one(sls_expected);
  SlsDecoder two(sls_expected);
  CHECK(run_in(one, numbered(3, 2)) != run_in(two, numbered(3, 0)));
}

TEST_CASE("run: behind an end marker the same three open another run, unless the frame goes on") {
  SlsDecoder decoder(sls_expected);
  const auto end = [&] { check_end(decode_sls_one(decoder, encode_sls_end())); };
  const auto first = run_in(decoder, numbered(1, 0));
  CHECK(run_in(decoder, numbered(2, 1)) == first);
  end();
  CHECK(run_in(decoder, numbered(3, 2)) == first);  // the marker came early
  end();
  end();
  const auto again = run_in(decoder, numbered(1, 0));  // the detector's counter was set back
  CHECK(again != first);
  CHECK(run_in(decoder, numbered(2, 1)) == again);
  CHECK(run_in(decoder, numbered(1, 0)) == again);  // sent twice: no end marker between
  end();
  const auto other = run_in(decoder, numbered(10, 0));
  CHECK(other != again);
  end();
  const auto third = run_in(decoder, numbered(1, 0));  // the one before last comes back
  CHECK(third != first);
  CHECK(third != again);
}

TEST_CASE(
    "run: sockets of one port agree, though one of them had no frame of an acquisition or missed its end") {
  SlsDecoder one(sls_expected);
  SlsDecoder two(sls_expected);
  const auto end = [](SlsDecoder& decoder) { check_end(decode_sls_one(decoder, encode_sls_end())); };
  CHECK(run_in(one, numbered(1, 0)) == run_in(two, numbered(2, 1)));
  end(one);
  end(two);
  run_in(one, numbered(3, 0));  // a single frame, and the end marker on its socket only
  end(one);
  const auto third = run_in(two, numbered(4, 0));
  CHECK(run_in(one, numbered(5, 1)) == third);
  end(one);
  end(two);
  // The first name once more is a repetition for both.
  const auto fourth = run_in(one, numbered(1, 0));
  CHECK(run_in(two, numbered(2, 1)) == fourth);
}

TEST_CASE("run: a name comes back after an end marker that was lost, or after more names than are kept") {
  SlsDecoder decoder(sls_expected);
  const auto end = [&] { check_end(decode_sls_one(decoder, encode_sls_end())); };
  const auto first = run_in(decoder, numbered(1, 0));
  end();
  run_in(decoder, numbered(10, 0));
  const auto again = run_in(decoder, numbered(1, 0));
  CHECK(again != first);
  std::set<std::array<std::uint64_t, 2>> runs{first.hash, again.hash};
  for (std::uint64_t i = 0; i < 40; ++i) runs.insert(run_in(decoder, numbered(100 + i, 0)).hash);
  CHECK(runs.size() == 42);
}

TEST_CASE("run: a rejected frame leaves no trace") {
  SlsDecoder decoder(sls_expected);
  const auto first = run_in(decoder, numbered(1, 0));
  check_end(decode_sls_one(decoder, encode_sls_end()));
  CHECK(std::holds_alternative<Rejection>(decode_sls(decoder, numbered(1, 0).set("size", "13").str())));
  CHECK(run_in(decoder, numbered(2, 1)) == first);
}

TEST_CASE("what is encoded is decoded as it was meant") {
  for (const auto bits : {8U, 16U, 32U}) {
    const ExpectedFrame expected{{37, 53},
                                 bits == 8    ? PixelType::u8
                                 : bits == 16 ? PixelType::u16
                                              : PixelType::u32};
    const std::vector<std::byte> pixels(expected.bytes());
    SlsFrame frame;
    frame.bitmode = bits;
    frame.shape = expected.shape;
    frame.frame_number = ~0ULL;
    frame.frame_index = 5;
    frame.fname = "/data/run";
    frame.complete_image = false;
    frame.row = 3;
    frame.column = 2;
    frame.det_type = sls_det_type::eiger;
    frame.flip_rows = true;
    std::string header;
    encode_sls_header(frame, header);
    const auto message = sls_frame(decode_sls(header, expected, pixels));
    CHECK(message.info.number == ~0ULL);
    CHECK(message.info.flags == 0);
    CHECK(message.place == Place{111, 106, true});
    SlsDecoder decoder(expected);
    check_end(decode_sls_one(decoder, encode_sls_end(frame)));
  }
}
