#include <doctest/doctest.h>

#include "core/accumulators/pixel_histogram/launch_policy.hpp"

using namespace pixhist;

TEST_CASE("a tile where it fits and pays, plain elsewhere") {
  constexpr std::size_t hopper = 227 * 1024;
  constexpr std::size_t turing = 64 * 1024;
  CHECK(choose_kernel({1000, 255, hopper}) == FillKernel::tile);
  CHECK(choose_kernel({1, 16, turing}) == FillKernel::tile);
  CHECK(choose_kernel({1000, 15, hopper}) == FillKernel::plain);  // too few frames to pay for the flush
  CHECK(choose_kernel({4096, 255, hopper}) == FillKernel::tile);
  CHECK(choose_kernel({4097, 255, hopper}) == FillKernel::plain);
  CHECK(choose_kernel({2044, 255, turing}) == FillKernel::tile);  // 2048 slots of 32 bytes: exactly 64 KiB
  CHECK(choose_kernel({2045, 255, turing}) == FillKernel::plain);
  CHECK(choose_kernel({65536, 255, hopper}) == FillKernel::plain);
}

TEST_CASE("a tile has a byte for every slot of its pixels, and counts no further than a byte between flushes") {
  static_assert(tile_shared_bytes(1000) == 1004 * tile_pixels);
  static_assert(tile_frames_per_flush <= 255);
}
