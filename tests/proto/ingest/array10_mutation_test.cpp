#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "proto/ingest/array10_decoder.hpp"
#include "tests/proto/support.hpp"

using namespace pixhist;

TEST_CASE("20 000 damaged headers: each gives a frame, a mark or a bounded rejection, and nothing throws") {
  std::vector<std::string> seeds;
  for (const auto& file : test::vectors("array10")) seeds.push_back(file.second);
  test::Mutator mutator(20260131, std::move(seeds));
  const std::vector<std::byte> pixels(12);
  Array10Decoder decoder({{2, 3}, PixelType::u16});
  std::array<int, reject_reason_count> reasons{};
  int frames = 0;
  int marks = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto header = mutator.next();
    const MessagePart parts[] = {test::bytes_of(header), pixels};
    const auto message = decoder.decode(std::span(parts).first(i % 4 == 0 ? 1 : 2));
    if (const auto* frame = std::get_if<FrameMessage>(&message)) {
      ++frames;
      REQUIRE(frame->payload.data() == pixels.data());
      REQUIRE(frame->info.kind == RecordKind::frame);
    } else if (const auto* rejection = std::get_if<Rejection>(&message)) {
      const auto reason = static_cast<std::size_t>(rejection->reason);
      REQUIRE(reason < reject_reason_count);
      ++reasons[reason];
      REQUIRE(!rejection->message.empty());
      REQUIRE(rejection->message.size() <= 300);
      REQUIRE(test::is_printable(rejection->message));
    } else {
      ++marks;
      REQUIRE(std::get<ControlMessage>(message).info.kind == RecordKind::run_end);
    }
  }
  // The damage reaches every branch, so the loop above has looked at each.
  CHECK(frames > 100);
  CHECK(marks > 10);
  for (const auto reason :
       {RejectReason::not_json, RejectReason::bad_header, RejectReason::parts, RejectReason::dtype,
        RejectReason::geometry, RejectReason::encoding, RejectReason::unknown_message}) {
    CAPTURE(name_of(reason));
    CHECK(reasons[static_cast<std::size_t>(reason)] > 0);
  }
}
