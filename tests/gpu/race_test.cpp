// The test of the tests: without the wait for kernel_done, batches overwrite each other in the slots, and the
// comparison of counts must see it. With the wait the same sequence is right every time.

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"
#include "core/pipeline/cuda_slots.hpp"
#include "tests/gpu/spin_kernel.hpp"

using namespace pixhist;

namespace {

constexpr FrameShape shape{64, 128};
constexpr std::uint32_t frames_per_batch = 32;
constexpr std::uint32_t batches = 6;

/// Batches of one value each (batch i: i), every one behind a slow kernel. True if the counts are right.
bool run_is_right(SlotReuse reuse) {
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  PinnedMemory pinned(account, 0);
  HistogramSpec spec;
  spec.shape = shape;
  spec.axis = {batches, 0, batches, AxisType::f32};
  CudaPixelCounts counts(spec, device, account);
  const std::size_t batch_bytes = shape.pixels() * sizeof(std::uint16_t) * frames_per_batch;
  CudaSlots slots(device, batch_bytes, frames_per_batch, account, reuse);
  const HostBlock input = pinned.allocate(batch_bytes * batches, Paging::populate);
  for (std::uint32_t b = 0; b < batches; ++b) {
    auto values = input.as<std::uint16_t>().subspan(b * batch_bytes / 2, batch_bytes / 2);
    std::fill(values.begin(), values.end(), static_cast<std::uint16_t>(b));
  }
  std::vector<FrameEntry> table(frames_per_batch);
  for (std::uint32_t f = 0; f < frames_per_batch; ++f)
    table[f] = {f * shape.pixels() * 2, static_cast<std::uint32_t>(shape.pixels() * 2), 1, 0};
  const std::vector<std::uint8_t> ok(frames_per_batch, 1);
  const DeviceBuffer device_table(table.size() * sizeof(FrameEntry), account);
  const DeviceBuffer device_ok(ok.size(), account);
  PIXHIST_CUDA_CHECK(cudaMemcpy(device_table.data(), table.data(), table.size() * sizeof(FrameEntry),
                                cudaMemcpyHostToDevice));
  PIXHIST_CUDA_CHECK(cudaMemcpy(device_ok.data(), ok.data(), ok.size(), cudaMemcpyHostToDevice));
  DecodedBatch uniform;
  uniform.frames = {device_table.data<const FrameEntry>(), frames_per_batch};
  uniform.frame_ok = {device_ok.data<const std::uint8_t>(), frames_per_batch};
  uniform.good_frames = frames_per_batch;

  for (std::uint32_t b = 0; b < batches; ++b) {
    const DecodedBatch batch = slots.begin(b, input.bytes().subspan(b * batch_bytes, batch_bytes), uniform);
    test::spin(device.compute().get(), 4'000'000);
    counts.accumulate(batch);
    slots.end(b);
  }
  std::vector<std::uint32_t> out(shape.pixels() * batches);
  CountTarget target;
  target.counts = reinterpret_cast<std::byte*>(out.data());
  target.row_stride = static_cast<std::ptrdiff_t>(std::size_t{shape.cols} * batches * sizeof(std::uint32_t));
  const auto read = counts.begin_read({Rect::whole(shape), {0, batches}, StorageType::u32}, target);
  while (!read->ready()) {
  }
  return std::all_of(out.begin(), out.end(), [](std::uint32_t n) { return n == frames_per_batch; });
}

}  // namespace

TEST_CASE("without the wait for the kernels the counts are wrong, with it they are right") {
  constexpr int runs = 10;
  int wrong_with_wait = 0;
  int wrong_without = 0;
  for (int i = 0; i < runs; ++i) {
    wrong_with_wait += run_is_right(SlotReuse::wait_for_kernels) ? 0 : 1;
    wrong_without += run_is_right(SlotReuse::race) ? 0 : 1;
  }
  MESSAGE("wrong without the wait: " << wrong_without << " of " << runs);
  CHECK(wrong_with_wait == 0);
  CHECK(wrong_without >= 9);
}
