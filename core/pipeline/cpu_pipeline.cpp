#include "core/pipeline/cpu_pipeline.hpp"

#include <chrono>

namespace pixhist {
namespace {

/// The decode stage. Raw records already are what accumulators read; encoded ones are rejected at receipt
/// until their decoder exists, and will be decoded here, by workers, into a buffer of the pipeline.
DecodedBatch decode(const Batch& batch) {
  return {batch.bytes.data(), batch.frames, batch.frame_ok, batch.good_frames()};
}

}  // namespace

bool CpuPipeline::try_submit(Batch& batch) {
  const auto begin = std::chrono::steady_clock::now();
  const DecodedBatch decoded = decode(batch);
  for (auto* accumulator : accumulators_.at(batch.source)) accumulator->accumulate(decoded);
  last_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ++last_ticket_;
  return true;
}

}  // namespace pixhist
