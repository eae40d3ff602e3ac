#pragma once
// The wire format of slsReceiver (slsDetectorPackage 5.0 and newer), to the byte: docs/wire/sls.md, which
// also lists every reason to reject and the order in which they are judged. One decoder per port; used by one
// receive thread. Of the messages before it keeps only what tells acquisitions apart.

#include <cstdint>

#include "proto/ingest/frame_decoder.hpp"
#include "proto/ingest/json_reader.hpp"

namespace pixhist {

struct SlsHeader;

inline constexpr std::size_t max_sls_header_bytes = 64 * 1024;

class SlsDecoder final : public FrameDecoder {
 public:
  explicit SlsDecoder(const ExpectedFrame& expected) : expected_(expected) {}

  DecodedMessage decode(std::span<const MessagePart> parts) override;
  std::size_t max_parts() const override { return 2; }

 private:
  DecodedMessage decode_end();
  DecodedMessage decode_frame(const SlsHeader& header, MessagePart pixels);
  RunKey run_of(const SlsHeader& header);

  const ExpectedFrame expected_;
  JsonReader reader_{max_sls_header_bytes};
  // Of the last good frame.
  RunKey acquisition_;  // fname, fileIndex, frameNumber - frameIndex
  std::uint64_t frame_index_ = 0;
  bool ended_ = false;            // an end marker has come since
  std::uint64_t repetition_ = 0;  // sets apart acquisitions that the three do not
};

}  // namespace pixhist
