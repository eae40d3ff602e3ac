#pragma once
// The wire format array10 (PSI array-1.0), to the byte: docs/wire/array10.md, which also lists every reason
// to reject and the order in which they are judged. Keeps nothing of a message; used by one receive thread.

#include "proto/ingest/frame_decoder.hpp"
#include "proto/ingest/json_reader.hpp"

namespace pixhist {

inline constexpr std::size_t max_array10_header_bytes = 64 * 1024;

class Array10Decoder final : public FrameDecoder {
 public:
  explicit Array10Decoder(const ExpectedFrame& expected) : expected_(expected) {}

  DecodedMessage decode(std::span<const MessagePart> parts) override;
  std::size_t max_parts() const override { return 2; }

 private:
  const ExpectedFrame expected_;
  JsonReader reader_{max_array10_header_bytes};
};

}  // namespace pixhist
