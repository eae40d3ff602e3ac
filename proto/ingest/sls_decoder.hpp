#pragma once
// The wire format of slsReceiver (slsDetectorPackage 5.0 and newer), to the byte: docs/wire/sls.md, which
// also lists every reason to reject and the order in which they are judged. One decoder per port; used by one
// receive thread. Of the messages before it keeps only what tells acquisitions apart.

#include <array>
#include <cstddef>
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

  /// Of the good frames with one name: fname, fileIndex, frameNumber - frameIndex.
  struct Acquisition {
    RunKey name;
    std::uint64_t repetition = 0;   // sets apart acquisitions that the name does not
    std::uint64_t frame_index = 0;  // of its last frame
    std::uint64_t ends = 0;         // end markers that had come by then
  };
  std::size_t remembered(const RunKey& name);

  // Repetitions are counted for each name by itself, so that the sockets of one source agree on the run
  // although an acquisition, or its end marker, may have come on one of them only. More names than
  // SequenceLedger remembers runs: a name that is forgotten here cannot be stale there.
  std::array<Acquisition, 16> acquisitions_{};
  std::size_t current_ = 0;
  std::size_t next_ = 0;
  std::uint64_t ends_ = 0;
};

}  // namespace pixhist
