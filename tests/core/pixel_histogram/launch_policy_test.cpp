#include "core/accumulators/pixel_histogram/launch_policy.hpp"

#include <doctest/doctest.h>

using namespace pixhist;

namespace {
constexpr std::size_t hopper = 227 * 1024;
constexpr std::size_t turing = 64 * 1024;

FillKernel first_choice(std::uint32_t bins, std::uint32_t frames, bool saturating = false,
                        std::size_t shared = hopper) {
  return FillPolicy({bins, shared}).choose(frames, saturating);
}
}  // namespace

TEST_CASE("the kernel of a first batch follows bins and frames") {
  using enum FillKernel;
  CHECK(first_choice(508, 255) == tile);
  CHECK(first_choice(509, 255) == window);
  CHECK(first_choice(65536, 255) == window);
  CHECK(first_choice(1, 24, false, turing) == tile);
  CHECK(first_choice(1000, 24) == window);
  CHECK(first_choice(1000, 23) == scatter);  // too few frames to pay for the flush
  CHECK(first_choice(1000, 1) == scatter);
}

TEST_CASE("where cells may saturate no kernel adds with atomics alone") {
  using enum FillKernel;
  CHECK(first_choice(1000, 255, true) == ranges);
  CHECK(first_choice(16384, 256, true) == ranges);
  CHECK(first_choice(16384, 255, true) == plain);  // ranges would not pay
  CHECK(first_choice(1000, 10, true) == plain);
  CHECK(first_choice(100, 255, true) == tile);
  FillPolicy pinned({1000, hopper}, window);
  CHECK(pinned.choose(255, false) == window);
  CHECK(pinned.choose(255, true) == ranges);
}

TEST_CASE("scattered values set the window aside, and it is tried again") {
  FillPolicy policy({1000, hopper});
  policy.learn(1000, 200);
  CHECK(policy.choose(255, false) == FillKernel::window);  // one in five is just bearable
  policy.learn(1000, 201);
  CHECK(policy.scattered());
  std::uint32_t others = 0;
  while (policy.choose(255, false) != FillKernel::window) ++others;
  CHECK(others == FillPolicy::batches_between_tries);
  CHECK(policy.choose(255, false) == FillKernel::ranges);  // nothing learnt yet: no second try at once
  policy.learn(1000, 900);
  CHECK(policy.choose(255, false) == FillKernel::ranges);
  policy.learn(1000, 10);
  CHECK(policy.choose(255, false) == FillKernel::window);
  policy.learn(0, 0);  // no window ran
  CHECK(policy.choose(255, false) == FillKernel::window);
}

TEST_CASE("scattered values over many bins or in small batches go straight to the counts") {
  FillPolicy policy({16384, hopper});
  policy.learn(1, 1);
  CHECK(policy.choose(256, false) == FillKernel::ranges);
  CHECK(policy.choose(255, false) == FillKernel::scatter);
  FillPolicy many({65536, hopper});
  many.learn(1, 1);
  CHECK(many.choose(1023, false) == FillKernel::scatter);
}

TEST_CASE("a kernel that a device or shape rules out is not chosen, pinned or not") {
  using enum FillKernel;
  CHECK_FALSE(kernel_can(tile, {2045, turing}, false));
  CHECK(kernel_can(tile, {2044, turing}, false));  // 2048 slots of 32 bytes: exactly 64 KiB
  CHECK(kernel_can(ranges, {65531, turing}, false));
  CHECK_FALSE(kernel_can(ranges, {65532, hopper}, false));  // a slot would look like "none"
  CHECK(FillPolicy({2045, turing}, tile).choose(255, false) == window);
  CHECK(FillPolicy({2045, turing}, tile).choose(2, false) == scatter);
  CHECK(FillPolicy({100, 1024}).choose(255, false) == scatter);  // no shared memory to speak of
  CHECK(FillPolicy({100, 1024}).choose(255, true) == plain);
}

TEST_CASE("shared memory of each kernel") {
  static_assert(tile_shared_bytes(1000) == 1004 * tile_pixels);
  static_assert(tile_frames_per_flush <= 255);
  static_assert(window_shared_bytes(10) == 14 * tile_pixels);
  static_assert(window_shared_bytes(65536) == 260 * tile_pixels);
  static_assert(ranges_shared_bytes(1024) == 512 * 32 + 255 * 64);
  static_assert(ranges_shared_bytes(1025) <= turing);
  for (const auto kernel : all_fill_kernels) CHECK(parse_fill_kernel(name_of(kernel)) == kernel);
  CHECK_FALSE(parse_fill_kernel("auto"));
}
