#include "core/accumulators/pixel_histogram/cuda_histogram_engine.hpp"

#include <utility>
#include <vector>

#include "core/memory/nvtx_range.hpp"

namespace pixhist {

CudaHistogramEngine::CudaHistogramEngine(HistogramSpec spec, std::uint32_t batch_size, const Options& options)
    : device_(options.device),
      counts_(std::move(spec), device_, account_),
      frame_bytes_(counts_.spec().shape.pixels() * size_of(counts_.spec().pixel_type)),
      slots_(device_, frame_bytes_ * batch_size, batch_size, account_, options.reuse),
      frames_(batch_size * sizeof(FrameEntry), account_),
      frame_ok_(batch_size, account_) {
  counts_.pin_kernel(options.kernel);
  std::vector<FrameEntry> table(batch_size);
  for (std::size_t f = 0; f < table.size(); ++f)
    table[f] = {f * frame_bytes_, static_cast<std::uint32_t>(frame_bytes_), frame_flags::complete, 0};
  const auto stream = device_.compute().get();
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(frames_.data(), table.data(), table.size() * sizeof(FrameEntry),
                                     cudaMemcpyHostToDevice, stream));
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(frame_ok_.data(), 1, batch_size, stream));
  device_.compute().synchronize();
}

CudaHistogramEngine::~CudaHistogramEngine() {
  // Whatever is still enqueued reads the caller's memory and our buffers.
  cudaSetDevice(device_.index());
  cudaStreamSynchronize(device_.copy().get());
  cudaStreamSynchronize(device_.compute().get());
}

void CudaHistogramEngine::register_input(std::span<const std::byte> bytes) {
  unregister_input();
  registration_ = HostRegistration(bytes);
}

void CudaHistogramEngine::unregister_input() {
  device_.use();
  device_.copy().synchronize();
  registration_ = HostRegistration();
}

void CudaHistogramEngine::submit(const std::byte* frames, std::size_t n) {
  const NvtxRange range("submit");
  DecodedBatch table;
  table.frames = {frames_.data<const FrameEntry>(), n};
  table.frame_ok = {frame_ok_.data<const std::uint8_t>(), n};
  table.good_frames = n;
  counts_.accumulate(slots_.begin(submitted_, {frames, n * frame_bytes_}, table));
  slots_.end(submitted_);
  ++submitted_;
}

void CudaHistogramEngine::flush() {
  device_.use();
  device_.copy().synchronize();
  device_.compute().synchronize();
}

std::uint64_t CudaHistogramEngine::read(const CountWindow& window, const CountTarget& target) {
  const auto read = counts_.begin_read(window, target);
  device_.read().synchronize();
  read->ready();
  return read->capped();
}

}  // namespace pixhist
