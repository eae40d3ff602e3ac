#include "proto/ingest/sls_decoder.hpp"
#include "tests/proto/ingest/damaged_headers.hpp"

using namespace pixhist;

TEST_CASE("40 000 damaged headers: each gives a frame, a mark or a bounded rejection, and nothing throws") {
  SlsDecoder decoder({{2, 3}, PixelType::u16});
  const auto answers = test::decode_damaged(decoder, "sls", 20261129, 40000, [](const FrameMessage& frame) {
    REQUIRE(frame.info.run.present());
    REQUIRE(frame.place.has_value());
  });
  // The damage reaches every branch.
  CHECK(answers.frames > 1000);
  CHECK(answers.marks > 100);
  test::check_each_was_given(answers, {RejectReason::not_json, RejectReason::bad_header, RejectReason::parts,
                                       RejectReason::encoding, RejectReason::geometry, RejectReason::size});
}
