#include "bench/frames/frames.hpp"

#include <bit>

namespace pixhist::bench {
namespace {

/// xorshift64: a few cycles a value, good enough to scatter.
class Random {
 public:
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }

 private:
  std::uint64_t state_ = 88172645463325252U;
};

constexpr std::uint16_t adc_max = 16383;

/// Noise of sigma 20: the number of set bits in 64 has sigma 4.
int noise(Random& random) { return 5 * (std::popcount(random()) - 32); }

std::uint16_t pedestal_value(std::uint16_t pedestal, Random& random) {
  const int around = noise(random);
  const std::uint64_t r = random();
  const int tail = r % 50 == 0 ? static_cast<int>((r >> 32) % 8000) : 0;
  return static_cast<std::uint16_t>((pedestal + around + tail) & adc_max);
}

std::uint16_t value(Distribution distribution, std::uint16_t pedestal, Random& random) {
  constexpr int common = 3000;
  switch (distribution) {
    case Distribution::uniform: return static_cast<std::uint16_t>(random() & adc_max);
    case Distribution::pedestal: return pedestal_value(pedestal, random);
    case Distribution::peak: return static_cast<std::uint16_t>(common + noise(random));
    case Distribution::same: break;
  }
  return common;
}

}  // namespace

std::vector<std::uint16_t> make_adc_values(FrameShape shape, std::size_t n_frames,
                                           Distribution distribution) {
  Random random;
  std::vector<std::uint16_t> pedestals(shape.pixels());
  for (auto& p : pedestals) p = static_cast<std::uint16_t>(2000 + random() % 2000);
  std::vector<std::uint16_t> out(shape.pixels() * n_frames);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = value(distribution, pedestals[i % shape.pixels()], random);
  return out;
}

}  // namespace pixhist::bench
