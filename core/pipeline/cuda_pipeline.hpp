#pragma once
// The CUDA twin of the pipeline: a batch is copied to one of two slots in one copy, decoded (raw: nothing to
// do) and handed to the source's accumulators on the compute stream. Submit thread only. Errors throw
// CudaError, which is a DeviceLost.

#include <cstdint>
#include <vector>

#include "core/accumulators/accumulator.hpp"
#include "core/pipeline/cuda_slots.hpp"
#include "core/pipeline/pipeline.hpp"

namespace pixhist {

class CudaPipeline final : public Pipeline {
 public:
  /// accumulators[s]: those of source s, on the same device and streams. All outlive the pipeline. A batch
  /// has at most slot_bytes and max_frames. Throws DeviceMemoryError, PinningRefused.
  CudaPipeline(const CudaDeviceStreams& device, std::vector<std::vector<Accumulator*>> accumulators,
               std::size_t slot_bytes, std::uint32_t max_frames, MemoryAccount& account);

  std::size_t slots() const override { return cuda_slot_count; }
  bool try_submit(Batch& batch) override;
  PipelineProgress progress() override;
  std::uint64_t bad_frames(Ticket) override { return 0; }  // raw frames cannot fail to decode
  BatchSeconds seconds(Ticket ticket) override;
  void drain() override;
  bool healthy() override;

 private:
  const CudaDeviceStreams& device_;
  std::vector<std::vector<Accumulator*>> accumulators_;
  CudaSlots slots_;
  Ticket submitted_ = 0;
  PipelineProgress progress_;
};

}  // namespace pixhist
