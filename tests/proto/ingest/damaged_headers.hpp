#pragma once
// The property that every decoder has: whatever the header is, the answer is a frame, a mark or a bounded
// rejection.

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "proto/ingest/frame_decoder.hpp"
#include "tests/proto/support.hpp"

namespace pixhist::test {

struct Answers {
  int frames = 0;
  int marks = 0;
  std::array<int, reject_reason_count> rejected{};  // by reason
};

/// What `decoder` says to `n` headers damaged from those in vectors/<folder>, pixels of 12 bytes behind three
/// of four. `check` looks at each frame.
inline Answers decode_damaged(FrameDecoder& decoder, std::string_view folder, std::uint64_t seed, int n,
                              const std::function<void(const FrameMessage&)>& check = {}) {
  std::vector<std::string> seeds;
  for (const auto& file : vectors(folder)) seeds.push_back(file.second);
  Mutator mutator(seed, std::move(seeds));
  const std::vector<std::byte> pixels(12);
  Answers answers;
  for (int i = 0; i < n; ++i) {
    const auto header = mutator.next();
    const MessagePart parts[] = {bytes_of(header), pixels};
    const auto message = decoder.decode(std::span(parts).first(i % 4 == 0 ? 1 : 2));
    if (const auto* frame = std::get_if<FrameMessage>(&message)) {
      ++answers.frames;
      REQUIRE(frame->payload.data() == pixels.data());
      REQUIRE(frame->info.kind == RecordKind::frame);
      if (check) check(*frame);
    } else if (const auto* rejection = std::get_if<Rejection>(&message)) {
      const auto reason = static_cast<std::size_t>(rejection->reason);
      REQUIRE(reason < reject_reason_count);
      ++answers.rejected[reason];
      REQUIRE(!rejection->message.empty());
      REQUIRE(rejection->message.size() <= 300);
      REQUIRE(is_printable(rejection->message));
    } else {
      ++answers.marks;
      REQUIRE(std::get<ControlMessage>(message).info.kind == RecordKind::run_end);
    }
  }
  return answers;
}

inline void check_each_was_given(const Answers& answers, std::initializer_list<RejectReason> reasons) {
  for (const auto reason : reasons) {
    CAPTURE(name_of(reason));
    CHECK(answers.rejected[static_cast<std::size_t>(reason)] > 0);
  }
}

}  // namespace pixhist::test
