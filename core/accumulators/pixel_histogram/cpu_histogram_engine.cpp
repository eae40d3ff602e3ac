#include "core/accumulators/pixel_histogram/cpu_histogram_engine.hpp"

#include <utility>

namespace pixhist {

CpuHistogramEngine::CpuHistogramEngine(HistogramSpec spec, std::uint32_t batch_size, const Options& options)
    : pool_(options.threads),
      counts_(std::move(spec), memory_, pool_),
      frames_(batch_size),
      frame_ok_(batch_size, std::uint8_t{1}) {
  const std::size_t bytes = counts_.spec().shape.pixels() * size_of(counts_.spec().pixel_type);
  for (std::size_t f = 0; f < frames_.size(); ++f)
    frames_[f] = {f * bytes, static_cast<std::uint32_t>(bytes), frame_flags::complete, 0};
}

void CpuHistogramEngine::submit(const std::byte* frames, std::size_t n) {
  DecodedBatch batch;
  batch.pixels = frames;
  batch.frames = std::span(frames_).first(n);
  batch.frame_ok = std::span(frame_ok_).first(n);
  batch.good_frames = n;
  counts_.accumulate(batch);
}

std::uint64_t CpuHistogramEngine::read(const CountWindow& window, const CountTarget& target) {
  return counts_.begin_read(window, target)->capped();
}

}  // namespace pixhist
