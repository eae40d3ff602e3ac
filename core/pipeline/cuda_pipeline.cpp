#include "core/pipeline/cuda_pipeline.hpp"

#include <utility>

#include "core/memory/nvtx_range.hpp"

namespace pixhist {

CudaPipeline::CudaPipeline(const CudaDeviceStreams& device,
                           std::vector<std::vector<Accumulator*>> accumulators, std::size_t slot_bytes,
                           std::uint32_t max_frames, MemoryAccount& account)
    : device_(device),
      accumulators_(std::move(accumulators)),
      slots_(device, slot_bytes, max_frames, account) {}

bool CudaPipeline::try_submit(Batch& batch) {
  if (submitted_ - progress().accumulated >= slots()) return false;
  const NvtxRange range("submit");
  const DecodedBatch decoded = slots_.begin_with_table(submitted_, batch.bytes, batch.frames, batch.frame_ok);
  for (auto* accumulator : accumulators_.at(batch.source)) accumulator->accumulate(decoded);
  slots_.end(submitted_);
  ++submitted_;
  return true;
}

PipelineProgress CudaPipeline::progress() {
  if (progress_.accumulated == submitted_) return progress_;
  device_.use();
  // Ticket t is the batch with index t - 1. Both streams work in order.
  while (progress_.copied < submitted_ && slots_.copied(progress_.copied)) ++progress_.copied;
  while (progress_.accumulated < progress_.copied && slots_.accumulated(progress_.accumulated))
    ++progress_.accumulated;
  return progress_;
}

BatchSeconds CudaPipeline::seconds(Ticket ticket) {
  return {slots_.copy_seconds(ticket - 1), slots_.kernel_seconds(ticket - 1)};
}

void CudaPipeline::drain() {
  device_.use();
  device_.copy().synchronize();
  device_.compute().synchronize();
}

bool CudaPipeline::healthy() {
  device_.use();
  const cudaError_t state = cudaStreamQuery(device_.compute().get());
  return state == cudaSuccess || state == cudaErrorNotReady;
}

}  // namespace pixhist
