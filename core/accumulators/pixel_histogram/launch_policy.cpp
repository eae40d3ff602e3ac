#include "core/accumulators/pixel_histogram/launch_policy.hpp"

namespace pixhist {

FillKernel FillPolicy::choose(std::uint32_t frames, bool saturating) {
  using enum FillKernel;
  if (pinned_ && kernel_can(*pinned_, shape_, saturating)) return *pinned_;
  if (frames < least_frames) return first_that_can({scatter}, saturating);
  if (shape_.bins <= tile_most_bins) return first_that_can({tile, scatter}, saturating);
  bool try_window = !scattered_;
  if (scattered_ && until_try_-- == 0) {
    until_try_ = batches_between_tries;
    try_window = true;
  }
  if (try_window && kernel_can(window, shape_, saturating)) return window;
  if (shape_.bins / bins_per_frame <= frames) return first_that_can({ranges, scatter}, saturating);
  return first_that_can({scatter}, saturating);
}

void FillPolicy::learn(std::uint64_t values, std::uint64_t misses) {
  if (values == 0) return;
  const bool scattered = misses > values / (hits_wanted_per_miss + 1);
  if (scattered && !scattered_) until_try_ = batches_between_tries;
  scattered_ = scattered;
}

FillKernel FillPolicy::first_that_can(std::initializer_list<FillKernel> kernels, bool saturating) const {
  for (const auto kernel : kernels) {
    if (kernel_can(kernel, shape_, saturating)) return kernel;
  }
  return FillKernel::plain;
}

}  // namespace pixhist
