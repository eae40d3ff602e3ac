#include "tools/player/simulated_detector.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace pixhist {

namespace {

constexpr std::int32_t one_adu = 256;

// SplitMix64 (Steele, Lea, Flood 2014) as a hash of a counter.
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Three 16-bit uniforms added: variance 3 * 2^32 / 12 = (2^15)^2, bell-shaped, never beyond 3 standard
// deviations. The result is in units of 2^-15 standard deviations.
constexpr std::int64_t bell(std::uint64_t bits) {
  const auto sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff);
  return static_cast<std::int64_t>(sum) - 98302;
}

// Uniform integer in [-half, half], from 16 bits.
constexpr std::int32_t uniform(std::uint64_t bits16, std::int32_t half) {
  return static_cast<std::int32_t>(((bits16 & 0xffff) * static_cast<std::uint64_t>(2 * half + 1)) >> 16) -
         half;
}

constexpr std::uint32_t photon_energy(std::uint32_t uniform16) {
  for (const auto& line : SimulatedDetector::lines) {
    if (uniform16 < line.per_65536) return line.energy_ev;
    uniform16 -= line.per_65536;
  }
  return 0;
}

template <class T>
T to_pixel(std::int64_t value) {
  constexpr std::int64_t pedestal = std::int64_t{SimulatedDetector::mean_pedestal_adu} * one_adu;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value - pedestal) / static_cast<T>(one_adu);
  } else {
    if constexpr (std::is_signed_v<T>) value -= pedestal;
    value >>= sizeof(T) == 1 ? 12 : 8;
    return static_cast<T>(
        std::clamp<std::int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
}

}  // namespace

SimulatedDetector::SimulatedDetector(FrameShape shape, PixelType type, std::uint64_t seed)
    : shape_(shape), type_(type), seed_(mix(seed + golden)), response_(shape.pixels()) {
  for (std::size_t p = 0; p < response_.size(); ++p) {
    const std::uint64_t bits = mix(seed_ + (p + 1) * golden);
    auto& r = response_[p];
    r.pedestal = (mean_pedestal_adu * one_adu) + uniform(bits, pedestal_spread_adu * one_adu);
    r.noise = 12 * one_adu + uniform(bits >> 16, 2 * one_adu);
    r.gain = 10880 + uniform(bits >> 32, 300);  // 41.5 ADU per keV, 3 % to either side
    const std::uint64_t fate = bits >> 52;
    r.kind = fate == 0 ? PixelKind::dead : fate == 1 ? PixelKind::hot : PixelKind::good;
    if (r.kind == PixelKind::dead) r.noise = r.gain = 0;
    if (r.kind == PixelKind::hot) r.noise *= 8;
  }
}

void SimulatedDetector::render(std::uint64_t image, std::span<std::byte> bytes) const {
  if (bytes.size() != frame_bytes()) {
    throw std::invalid_argument("render: buffer of " + std::to_string(bytes.size()) +
                                " bytes for a frame of " + std::to_string(frame_bytes()));
  }
  // Two hashes apart from the one of the responses, so that neither images nor seeds share a sequence.
  const std::uint64_t stream = mix(mix(seed_ ^ 0x5bd1e9955bd1e995ULL) + (image + 1) * golden);
  visit_pixel_type(type_, [&]<class T>(TypeTag<T>) {
    std::byte* out = bytes.data();
    std::uint64_t counter = stream;
    for (const auto& r : response_) {
      const std::uint64_t bits = mix(counter += golden);
      std::int64_t value = r.pedestal + ((bell(bits) * r.noise) >> 15);
      value += (std::int64_t{photon_energy(static_cast<std::uint32_t>(bits >> 48))} * r.gain) >> 10;
      const T pixel = to_pixel<T>(value);
      std::memcpy(out, &pixel, sizeof pixel);
      out += sizeof pixel;
    }
  });
}

SimulatedDetector::PixelTruth SimulatedDetector::truth(std::size_t pixel) const {
  const auto& r = response_.at(pixel);
  return {r.pedestal / 256.0, r.noise / 256.0, r.gain * 1000.0 / (1 << 18), r.kind};
}

}  // namespace pixhist
