#include <doctest/doctest.h>

#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"
#include "core/pipeline/cuda_pipeline.hpp"
#include "tests/gpu/spin_kernel.hpp"

using namespace pixhist;

TEST_CASE("a device error is seen, names the call, and stays") {
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  HistogramSpec spec;
  spec.shape = {2, 2};
  spec.axis = {4, 0, 4, AxisType::f32};
  CudaPixelCounts counts(spec, device, account);
  CudaPipeline pipeline(device, {{&counts}}, 64, 4, account);
  PinnedMemory pinned(account, 0);
  const HostBlock bytes = pinned.allocate(64, Paging::populate);
  Batch batch;
  batch.bytes = bytes.bytes().first(16);
  batch.frames = {{0, 8, frame_flags::complete, 0}};
  batch.frame_ok = {1};
  REQUIRE(pipeline.try_submit(batch));
  pipeline.drain();
  CHECK(pipeline.healthy());

  test::break_device(device.compute().get());
  const auto lose = [&] {
    for (int i = 0; i < 1000; ++i) {
      pipeline.try_submit(batch);
      pipeline.progress();
      pipeline.drain();
    }
  };
  try {
    lose();
    FAIL("the error was not seen");
  } catch (const DeviceLost& e) {
    CHECK(std::string(e.what()).find("cudaError") != std::string::npos);
    CHECK(std::string(e.what()).find("cuda_") != std::string::npos);  // the file of the call
  }
  CHECK_FALSE(pipeline.healthy());
  CHECK_THROWS_AS(lose(), DeviceLost);
}
