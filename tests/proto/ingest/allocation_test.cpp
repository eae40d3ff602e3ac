#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "proto/ingest/array10_decoder.hpp"
#include "proto/ingest/array10_encoder.hpp"
#include "proto/ingest/sls_decoder.hpp"
#include "proto/ingest/sls_encoder.hpp"
#include "tests/proto/support.hpp"
#include "tests/service/receive_path/call_counter.hpp"

using namespace pixhist;

namespace {

std::uint64_t allocations() { return test::calls().allocations; }

/// Allocations of decoding `headers` one after the other, all of which must be frames or marks.
std::uint64_t allocations_of(FrameDecoder& decoder, const std::vector<std::string>& headers,
                             std::span<const std::byte> pixels, bool end = false) {
  const auto before = test::calls();
  std::size_t rejected = 0;
  for (const auto& header : headers) {
    const MessagePart parts[] = {test::bytes_of(header), pixels};
    const auto message = decoder.decode(std::span(parts).first(end ? 1 : 2));
    rejected += std::holds_alternative<Rejection>(message) ? 1 : 0;
  }
  const auto after = test::calls();
  CHECK(rejected == 0);
  CHECK(after.locks == before.locks);
  return after.allocations - before.allocations;
}

std::vector<std::string> files(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> headers;
  for (const auto& [name, bytes] : test::vectors(folder)) {
    if (name.starts_with(prefix)) headers.push_back(bytes);
  }
  REQUIRE(headers.size() >= 2);
  return headers;
}

}  // namespace

TEST_CASE("the counter counts") {
  const auto before = allocations();
  const auto text = std::make_unique<std::string>(100, 'x');
  CHECK(allocations() - before == (test::allocations_are_counted() ? 2 : 0));
}

TEST_CASE("a rejection allocates, so the decoders do reach the counter") {
  Array10Decoder decoder({{2, 3}, PixelType::u16});
  const auto before = allocations();
  const MessagePart parts[] = {test::bytes_of("{}"), {}};
  CHECK(std::holds_alternative<Rejection>(decoder.decode(parts)));
  CHECK((allocations() > before) == test::allocations_are_counted());
}

TEST_CASE("good array10 messages allocate nothing, from the first on") {
  const std::vector<std::byte> pixels(12);
  auto headers = files("array10", "frame_");
  headers.push_back(R"({"shape":[2,3],"type":"uint16","run":")" + std::string(1000, 'r') +
                    R"(\u00e9","x":[[{}]]})");
  Array10Decoder decoder({{2, 3}, PixelType::u16});
  CHECK(allocations_of(decoder, headers, pixels) == 0);
  CHECK(allocations_of(decoder, files("array10", "end_"), {}, true) == 0);
}

TEST_CASE("good sls messages allocate nothing, from the first on") {
  const std::vector<std::byte> pixels(12);
  auto headers = files("sls", "frame_");
  SlsFrame frame;
  frame.shape = {2, 3};
  const std::string long_name(10000, 'n');
  frame.fname = long_name;
  encode_sls_header(frame, headers.emplace_back());
  SlsDecoder decoder({{2, 3}, PixelType::u16});
  CHECK(allocations_of(decoder, headers, pixels) == 0);
  CHECK(allocations_of(decoder, files("sls", "end_"), {}, true) == 0);
}

TEST_CASE("encoders reuse the header they are given") {
  std::string header(4096, ' ');
  SlsFrame frame;
  frame.shape = {512, 1024};
  frame.fname = "/data/run";
  const auto before = allocations();
  for (int i = 0; i < 10; ++i) {
    frame.frame_number = ~0ULL;
    encode_sls_header(frame, header);
    encode_array10_header({{512, 1024}, PixelType::u16, ~0ULL, "run"}, header);
  }
  CHECK(allocations() == before);
}
