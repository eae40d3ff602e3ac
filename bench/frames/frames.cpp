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
std::uint16_t pedestal_value(std::uint16_t pedestal, Random& random) {
  const int noise = 5 * (std::popcount(random()) - 32);
  const std::uint64_t r = random();
  const int tail = r % 50 == 0 ? static_cast<int>((r >> 32) % 8000) : 0;
  return static_cast<std::uint16_t>((pedestal + noise + tail) & adc_max);
}

}  // namespace

std::vector<std::uint16_t> make_adc_values(FrameShape shape, std::size_t n_frames,
                                           Distribution distribution) {
  Random random;
  std::vector<std::uint16_t> pedestals(shape.pixels());
  for (auto& p : pedestals) p = static_cast<std::uint16_t>(2000 + random() % 2000);
  std::vector<std::uint16_t> out(shape.pixels() * n_frames);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = distribution == Distribution::uniform ? static_cast<std::uint16_t>(random() & adc_max)
                                                   : pedestal_value(pedestals[i % shape.pixels()], random);
  }
  return out;
}

}  // namespace pixhist::bench
