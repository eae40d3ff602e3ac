// The CUDA pipeline against the CPU pipeline, batch by batch, counts with ==.

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"
#include "core/pipeline/cpu_pipeline.hpp"
#include "core/pipeline/cuda_pipeline.hpp"

using namespace pixhist;

namespace {

HistogramSpec spec_of(FrameShape shape) {
  HistogramSpec spec;
  spec.shape = shape;
  spec.axis = {200, 0, 1000, AxisType::f32};
  spec.invalid_values = {77};
  return spec;
}

/// Frames of random values with padding between them; some masked.
Batch random_batch(std::size_t source, FrameShape shape, std::size_t frames, HostBlock& bytes,
                   std::minstd_rand& random) {
  const std::size_t frame_bytes = shape.pixels() * sizeof(std::uint16_t);
  const std::size_t stride = align16(frame_bytes);
  Batch batch;
  batch.source = source;
  batch.bytes = bytes.bytes().first(frames * stride);
  for (std::size_t f = 0; f < frames; ++f) {
    auto* values = reinterpret_cast<std::uint16_t*>(bytes.data() + f * stride);
    for (std::size_t i = 0; i < shape.pixels(); ++i) values[i] = static_cast<std::uint16_t>(random() % 1100);
    batch.frames.push_back({f * stride, static_cast<std::uint32_t>(frame_bytes), frame_flags::complete, 0});
    batch.frame_ok.push_back(random() % 5 != 0);
  }
  return batch;
}

std::vector<std::uint32_t> read(PixelCounts& counts) {
  const auto& spec = counts.spec();
  const std::size_t npix = spec.shape.pixels();
  std::vector<std::uint32_t> out(npix * (spec.axis.bins + flow_count));
  CountTarget target;
  target.counts = reinterpret_cast<std::byte*>(out.data());
  target.row_stride =
      static_cast<std::ptrdiff_t>(std::size_t{spec.shape.cols} * spec.axis.bins * sizeof(std::uint32_t));
  for (std::size_t k = 0; k < flow_count; ++k) target.flow[k] = out.data() + npix * (spec.axis.bins + k);
  target.flow_row_stride = spec.shape.cols;
  const auto reading =
      counts.begin_read({Rect::whole(spec.shape), {0, spec.axis.bins}, StorageType::u32}, target);
  while (!reading->ready()) {
  }
  CHECK(reading->frames() == counts.frames());
  return out;
}

}  // namespace

TEST_CASE("random batches of two sources count the same on both pipelines") {
  constexpr FrameShape shapes[] = {{37, 53}, {64, 32}};
  constexpr std::size_t max_frames = 300;
  MemoryAccount account;
  PageableMemory memory(account);
  WorkerPool pool(2);
  const CudaDeviceStreams device(0);
  PinnedMemory pinned(account, 0);
  std::vector<std::unique_ptr<CpuPixelCounts>> cpu;
  std::vector<std::unique_ptr<CudaPixelCounts>> cuda;
  std::vector<std::vector<Accumulator*>> cpu_list;
  std::vector<std::vector<Accumulator*>> cuda_list;
  for (const auto& shape : shapes) {
    cpu.push_back(std::make_unique<CpuPixelCounts>(spec_of(shape), memory, pool));
    cuda.push_back(std::make_unique<CudaPixelCounts>(spec_of(shape), device, account));
    cpu_list.push_back({cpu.back().get()});
    cuda_list.push_back({cuda.back().get()});
  }
  const std::size_t slot_bytes = max_frames * align16(64 * 53 * 2);
  CpuPipeline cpu_pipeline(cpu_list);
  CudaPipeline cuda_pipeline(device, cuda_list, slot_bytes, max_frames, account);

  std::minstd_rand random(3);
  std::vector<HostBlock> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(pinned.allocate(slot_bytes, Paging::populate));
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    const std::size_t source = random() % 2;
    // Four buffers, two batches unfinished at most: a buffer is not written while it is read.
    Batch batch = random_batch(source, shapes[source], 1 + random() % max_frames, buffers[i % 4], random);
    REQUIRE(cpu_pipeline.try_submit(batch));
    while (!cuda_pipeline.try_submit(batch)) ++refused;
    const auto progress = cuda_pipeline.progress();
    CHECK(progress.accumulated <= progress.copied);
    CHECK(progress.copied <= i + 1);
    CHECK(i + 1 - progress.accumulated <= cuda_pipeline.slots());
    if (i % 20 == 7) CHECK(read(*cuda[source]) == read(*cpu[source]));  // mid-run, then more filling
  }
  cuda_pipeline.drain();
  CHECK(cuda_pipeline.progress().accumulated == 60);
  CHECK(cuda_pipeline.healthy());
  for (std::size_t s = 0; s < 2; ++s) {
    CHECK(read(*cuda[s]) == read(*cpu[s]));
    CHECK(cuda[s]->flow_totals() == cpu[s]->flow_totals());
    CHECK(cuda[s]->frames() == cpu[s]->frames());
  }
  const BatchSeconds seconds = cuda_pipeline.seconds(60);
  CHECK(seconds.copy > 0);
  CHECK(seconds.kernel > 0);
}
