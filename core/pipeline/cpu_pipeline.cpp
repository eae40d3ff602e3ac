#include "core/pipeline/cpu_pipeline.hpp"

namespace pixhist {
namespace {

/// The decode stage. Raw records already are what accumulators read; encoded ones are rejected at receipt
/// until their decoder exists, and will be decoded here, by workers, into a buffer of the pipeline.
DecodedBatch decode(const Batch& batch) {
  return {batch.bytes.data(), batch.frames, batch.frame_ok, batch.good_frames()};
}

}  // namespace

bool CpuPipeline::try_submit(Batch& batch) {
  const DecodedBatch decoded = decode(batch);
  for (auto* accumulator : accumulators_.at(batch.source)) accumulator->accumulate(decoded);
  ++last_ticket_;
  return true;
}

}  // namespace pixhist
