#pragma once
// Frames to fill: seeded, so that two runs time the same work.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/geometry.hpp"

namespace pixhist::bench {

/// uniform: over all bins, the worst case for the caches. pedestal: what raw frames look like, a pedestal per
/// pixel, noise of sigma 20 and 2 % of the values in a tail. peak: the same pedestal for all pixels, no tail.
/// same: one value for all pixels of all frames.
enum class Distribution { uniform, pedestal, peak, same };
constexpr std::string_view name_of(Distribution d) {
  constexpr std::string_view names[] = {"uniform", "pedestal+tail", "common peak", "one value"};
  return names[static_cast<std::size_t>(d)];
}

/// 14-bit values, n_frames × rows × cols. 8-bit pixels take them divided by 64.
std::vector<std::uint16_t> make_adc_values(FrameShape shape, std::size_t n_frames, Distribution distribution);

template <class Pixel>
std::vector<Pixel> as_pixels(const std::vector<std::uint16_t>& adc) {
  std::vector<Pixel> out(adc.size());
  constexpr int divisor = sizeof(Pixel) == 1 ? 64 : 1;
  for (std::size_t i = 0; i < adc.size(); ++i) out[i] = static_cast<Pixel>(adc[i] / divisor);
  return out;
}

}  // namespace pixhist::bench
