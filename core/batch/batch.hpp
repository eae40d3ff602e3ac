#pragma once
// A batch: a contiguous byte range of one ring and the table of the frames in it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ring/record.hpp"

namespace pixhist {

/// One frame of a batch, as it travels to the device. Offset from the first byte of the batch.
struct FrameEntry {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint16_t flags = 0;  // frame_flags
  std::uint16_t tag = 0;
};

/// Closed or still growing. Owns its tables, borrows the ring's bytes: they stay valid until the records are
/// released, which the submit thread does when the pipeline reports the batch as copied.
struct Batch {
  std::size_t source = 0;
  std::size_t ring = 0;
  std::span<const std::byte> bytes;  // from the first frame's payload to the end of the last record (padding
                                     // to 16 bytes and block table included)
  std::vector<FrameEntry> frames;    // every frame record in the range, in order
  std::vector<std::uint8_t> frame_ok;  // 1: count it; 0: masked (discarded before it reached the pipeline)
  std::size_t records = 0;             // ring records in the range, to release
  std::chrono::nanoseconds oldest{};   // receipt of the first frame, steady clock
  std::chrono::nanoseconds newest{};   // receipt of the last frame

  std::uint64_t good_frames() const;
};

}  // namespace pixhist
