#pragma once
// What the fuzz targets share. Each defines LLVMFuzzerTestOneInput; a promise that is broken aborts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "proto/ingest/frame_decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace pixhist::fuzz {

inline void require(bool promise, const char* what) {
  if (promise) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline std::span<const std::byte> bytes_of(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}

inline void require_presentable(std::string_view text, std::size_t max_bytes) {
  require(!text.empty() && text.size() <= max_bytes, "a message is not empty and bounded");
  require(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; }),
          "a message is printable");
}

/// What the receive thread relies on, for the message with these parts.
inline void require_sound(const DecodedMessage& message, std::span<const MessagePart> parts,
                          const ExpectedFrame& expected) {
  if (const auto* frame = std::get_if<FrameMessage>(&message)) {
    require(parts.size() == 2, "a frame has two parts");
    require(frame->payload.data() == parts[1].data() && frame->payload.size() == expected.bytes(),
            "the payload is the second part, of the configured size");
    require(frame->info.kind == RecordKind::frame, "a frame is a frame");
  } else if (const auto* rejection = std::get_if<Rejection>(&message)) {
    require(static_cast<std::size_t>(rejection->reason) < reject_reason_count,
            "a reason is one of the table");
    require_presentable(rejection->message, 300);
  } else {
    const auto& control = std::get<ControlMessage>(message);
    require(parts.size() == 1 && control.mark && control.info.kind == RecordKind::run_end,
            "a control message is an end mark of one part");
  }
}

/// The input as the header of messages of one, two and three parts, which one decoder takes in turn.
inline void decode_all(FrameDecoder& decoder, std::span<const std::byte> header,
                       const ExpectedFrame& expected, std::span<const std::byte> pixels) {
  const MessagePart parts[] = {header, pixels, {}};
  for (const std::size_t count : {2, 1, 3, 2}) {
    const auto message = std::span(parts).first(count);
    require_sound(decoder.decode(message), message, expected);
  }
}

}  // namespace pixhist::fuzz
