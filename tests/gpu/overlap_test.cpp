#include <doctest/doctest.h>

#include <chrono>
#include <random>

#include "core/accumulators/pixel_histogram/cuda_pixel_histogram.hpp"

using namespace pixhist;

TEST_CASE("the copy of a batch runs while the kernels of the one before it run") {
  constexpr std::int64_t rows = 512;
  constexpr std::int64_t cols = 1024;
  constexpr std::int64_t frames = 64;
  constexpr std::size_t batch_values = rows * cols * frames;
  MemoryAccount account;
  PinnedMemory pinned(account, 0);
  const HostBlock input = pinned.allocate(2 * batch_values * sizeof(std::uint16_t), Paging::populate);
  std::minstd_rand random(7);
  for (auto& v : input.as<std::uint16_t>()) v = static_cast<std::uint16_t>(random() % 16384);

  CudaHistogramEngine::Options options;
  options.kernel = FillKernel::plain;  // the slow one: there is something to overlap
  HistogramSpec spec;
  spec.shape = {rows, cols};
  spec.axis = {1024, 0, 16384, AxisType::f32};
  CudaHistogramEngine engine(spec, frames, options);
  int overlapped = 0;
  for (std::uint64_t pair = 0; pair < 10; ++pair) {
    engine.submit(input.data(), frames);
    engine.submit(input.data() + batch_values * sizeof(std::uint16_t), frames);
    engine.flush();
    const double seconds = engine.slots().overlap_seconds(2 * pair, 2 * pair + 1);
    if (seconds > 0.25 * engine.slots().copy_seconds(2 * pair + 1)) ++overlapped;
  }
  CHECK(overlapped >= 9);
}

TEST_CASE("submit does not wait for the device") {
  constexpr std::int64_t frames = 128;
  HistogramSpec spec;
  spec.shape = {1024, 1024};
  spec.axis = {1000, 0, 16384, AxisType::f32};
  MemoryAccount account;
  PinnedMemory pinned(account, 0);
  const HostBlock input = pinned.allocate(spec.shape.pixels() * 2 * frames, Paging::populate);
  CudaHistogramEngine engine(spec, frames, {});
  engine.submit(input.data(), frames);
  engine.flush();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) engine.submit(input.data(), frames);
  const auto submitted = std::chrono::steady_clock::now() - begin;
  engine.flush();
  const auto done = std::chrono::steady_clock::now() - begin;
  CHECK(submitted * 4 < done);
}
