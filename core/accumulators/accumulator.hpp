#pragma once
// What the pipeline feeds. One copy to the device serves many accumulators: the pipeline decodes a batch and
// hands it to each. The per-pixel histogram is the first kind.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/batch/batch.hpp"

namespace pixhist {

/// A batch after the decode stage: raw pixels of one source in the spec's pixel type. Pointers are host
/// memory for CPU accumulators and device memory for CUDA ones; they are valid in stream order only.
struct DecodedBatch {
  const std::byte* pixels = nullptr;  // frame f begins at pixels + frames[f].offset (16-byte aligned)
  std::span<const FrameEntry> frames;
  std::span<const std::uint8_t> frame_ok;  // 0: the frame counts with not one pixel
  std::uint64_t good_frames = 0;           // frames with frame_ok != 0
};

/// Called by the submit thread only. Same order rules on every device: accumulate and zero take effect in
/// the order of the calls.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  virtual void accumulate(const DecodedBatch& batch) = 0;
  virtual void zero() = 0;
};

}  // namespace pixhist
