// Recorded streams of real receivers, where PIXHIST_CASES names the folder that holds them.

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "proto/ingest/sls_decoder.hpp"
#include "tests/proto/ingest/recording.hpp"

using namespace pixhist;

namespace {

/// Value of the pixel at (row, col) of the port as sent; the same in every frame.
using Pattern = std::function<std::uint32_t(std::uint32_t row, std::uint32_t col)>;

struct Expectation {
  const char* file;
  ExpectedFrame frame;
  Place place;
  int frames;
  RejectReason reason;  // of the rejected
  int rejected;
  bool loses_packets;
  Pattern pattern;
};

std::uint32_t jungfrau(std::uint32_t row, std::uint32_t col) {
  const std::uint32_t gain = col < 300 ? 0 : col < 600 ? 1 : 3;
  return gain << 14 | (1 + row / 4);
}
std::uint32_t moench(std::uint32_t row, std::uint32_t) { return 1 + row / 8; }
std::uint32_t half_row(std::uint32_t row, std::uint32_t) { return row / 2; }
std::uint32_t quarter_row(std::uint32_t row, std::uint32_t) { return row / 4; }

constexpr ExpectedFrame jungfrau_frame{{512, 1024}, PixelType::u16};
constexpr ExpectedFrame moench_frame{{400, 400}, PixelType::u16};
constexpr ExpectedFrame eiger16{{256, 512}, PixelType::u16};
constexpr ExpectedFrame eiger8{{256, 512}, PixelType::u8};
constexpr auto none = RejectReason::not_json;

const std::vector<Expectation> expectations{
    {"jungfrau_1mod_200f", jungfrau_frame, {0, 0, false}, 200, none, 0, false, jungfrau},
    {"jungfrau_2mod_20f_p30001", jungfrau_frame, {0, 0, false}, 20, none, 0, false, jungfrau},
    {"jungfrau_2mod_20f_p30002", jungfrau_frame, {512, 0, false}, 20, none, 0, false, jungfrau},
    {"jungfrau_loss_nodiscard_20f", jungfrau_frame, {0, 0, false}, 20, none, 0, true, jungfrau},
    {"jungfrau_badname_5f", jungfrau_frame, {}, 0, RejectReason::not_json, 5, false, {}},
    {"moench_1mod_20f", moench_frame, {0, 0, false}, 20, none, 0, false, moench},
    {"eiger_1mod_16bit_10f_p30001", eiger16, {0, 0, false}, 10, none, 0, false, half_row},
    {"eiger_1mod_16bit_10f_p30002", eiger16, {0, 512, false}, 10, none, 0, false, half_row},
    {"eiger_1mod_16bit_10f_p30003", eiger16, {256, 512, true}, 10, none, 0, false, half_row},
    {"eiger_1mod_16bit_10f_p30004", eiger16, {256, 0, true}, 10, none, 0, false, half_row},
    {"eiger_1mod_8bit_10f_p30001", eiger8, {0, 0, false}, 10, none, 0, false, quarter_row},
    {"eiger_1mod_8bit_10f_p30001", eiger16, {}, 0, RejectReason::dtype, 10, false, {}},
    {"eiger_1mod_16bit_10f_p30001", jungfrau_frame, {}, 0, RejectReason::geometry, 10, false, {}},
    {"eiger_1mod_12bit_10f_p30001", eiger16, {}, 0, RejectReason::encoding, 10, false, {}}};

std::vector<std::byte> pixels_of(const Expectation& expected) {
  std::vector<std::byte> bytes(expected.frame.bytes());
  const std::size_t size = size_of(expected.frame.pixel_type);
  std::size_t at = 0;
  for (std::uint32_t row = 0; row < expected.frame.shape.rows; ++row) {
    for (std::uint32_t col = 0; col < expected.frame.shape.cols; ++col, at += size) {
      const std::uint32_t value = expected.pattern(row, col);
      std::memcpy(&bytes[at], &value, size);  // little-endian, like the stream
    }
  }
  return bytes;
}

/// Lost packets hold 0xFF; whether any byte of a frame differs from `pixels`.
bool has_holes(MessagePart payload, const std::vector<std::byte>& pixels) {
  bool holes = false;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (payload[i] == pixels[i]) continue;
    holes = true;
    if (payload[i] != std::byte{0xFF}) FAIL("byte " << i << " is neither the pattern's nor a hole's");
  }
  return holes;
}

struct Found {
  int frames = 0;
  int ends = 0;
  int rejected = 0;
  int incomplete = 0;
  RunKey run;
};

void take_frame(const FrameMessage& frame, const Expectation& expected, const std::vector<std::byte>& pixels,
                Found& found) {
  ++found.frames;
  CHECK(frame.info.number == static_cast<std::uint64_t>(found.frames));
  CHECK(frame.place == expected.place);
  if (found.frames == 1) found.run = frame.info.run;
  CHECK(frame.info.run == found.run);
  CHECK(found.ends == 0);
  REQUIRE(frame.payload.size() == pixels.size());
  const bool complete = (frame.info.flags & frame_flags::complete) != 0;
  found.incomplete += complete ? 0 : 1;
  CHECK(has_holes(frame.payload, pixels) == !complete);
}

Found decode_all(const std::string& path, const Expectation& expected) {
  const auto pixels = expected.pattern ? pixels_of(expected) : std::vector<std::byte>{};
  SlsDecoder decoder(expected.frame);
  Found found;
  test::Recording recording(path);
  while (const auto message = recording.next()) {
    const std::vector<MessagePart> parts(message->begin(), message->end());
    const auto decoded = decoder.decode(parts);
    if (const auto* frame = std::get_if<FrameMessage>(&decoded)) {
      take_frame(*frame, expected, pixels, found);
    } else if (const auto* rejection = std::get_if<Rejection>(&decoded)) {
      ++found.rejected;
      CHECK_MESSAGE(rejection->reason == expected.reason, rejection->message);
    } else {
      ++found.ends;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("every message of every recording in cases/sls") {
  const char* const cases = std::getenv("PIXHIST_CASES");
  if (cases == nullptr || *cases == '\0') {
    MESSAGE("SKIPPED: PIXHIST_CASES does not name a folder of recorded streams");
    return;
  }
  for (const auto& expected : expectations) {
    CAPTURE(expected.file);
    const auto found = decode_all(std::string(cases) + "/sls/" + expected.file + ".zmqrec.gz", expected);
    CHECK(found.frames == expected.frames);
    CHECK(found.ends == 1);
    CHECK(found.rejected == expected.rejected);
    CHECK((found.incomplete > 0) == expected.loses_packets);
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(cases) + "/sls")) {
    files += entry.path().extension() == ".gz" ? 1 : 0;
  }
  CHECK(files == expectations.size() - 2);  // two of them were read with two configurations
}
