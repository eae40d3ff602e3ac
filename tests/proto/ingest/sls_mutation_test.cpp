#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "proto/ingest/sls_decoder.hpp"
#include "tests/proto/support.hpp"

using namespace pixhist;

TEST_CASE("40 000 damaged headers: each gives a frame, a mark or a bounded rejection, and nothing throws") {
  std::vector<std::string> seeds;
  for (const auto& file : test::vectors("sls")) seeds.push_back(file.second);
  test::Mutator mutator(20261129, std::move(seeds));
  const std::vector<std::byte> pixels(12);
  SlsDecoder decoder({{2, 3}, PixelType::u16});
  std::array<int, reject_reason_count> reasons{};
  int frames = 0;
  int marks = 0;
  for (int i = 0; i < 40000; ++i) {
    const auto header = mutator.next();
    const MessagePart parts[] = {test::bytes_of(header), pixels};
    const auto message = decoder.decode(std::span(parts).first(i % 4 == 0 ? 1 : 2));
    if (const auto* frame = std::get_if<FrameMessage>(&message)) {
      ++frames;
      REQUIRE(frame->payload.data() == pixels.data());
      REQUIRE(frame->info.kind == RecordKind::frame);
      REQUIRE(frame->info.run.present());
      REQUIRE(frame->place.has_value());
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
  CHECK(frames > 1000);
  CHECK(marks > 100);
  for (const auto reason : {RejectReason::not_json, RejectReason::bad_header, RejectReason::parts,
                            RejectReason::encoding, RejectReason::geometry, RejectReason::size}) {
    CAPTURE(name_of(reason));
    CHECK(reasons[static_cast<std::size_t>(reason)] > 0);
  }
}
