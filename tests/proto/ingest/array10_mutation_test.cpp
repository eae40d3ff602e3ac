#include "proto/ingest/array10_decoder.hpp"
#include "tests/proto/ingest/damaged_headers.hpp"

using namespace pixhist;

TEST_CASE("20 000 damaged headers: each gives a frame, a mark or a bounded rejection, and nothing throws") {
  Array10Decoder decoder({{2, 3}, PixelType::u16});
  const auto answers = test::decode_damaged(decoder, "array10", 20260131, 20000);
  // The damage reaches every branch.
  CHECK(answers.frames > 100);
  CHECK(answers.marks > 10);
  test::check_each_was_given(
      answers, {RejectReason::not_json, RejectReason::bad_header, RejectReason::parts, RejectReason::dtype,
                RejectReason::geometry, RejectReason::encoding, RejectReason::unknown_message});
}
