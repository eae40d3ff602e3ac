#pragma once
// Random numbers without state: a hash of (seed, image, pixel), on integers alone, so that they are the same
// on every machine and in any order.

#include <cstdint>

namespace pixhist {

/// SplitMix64 (Steele, Lea, Flood 2014): mix(counter += golden) runs through a sequence.
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Three 16-bit uniforms added: variance 3 * 2^32 / 12 = (2^15)^2, bell-shaped, never beyond 3 standard
/// deviations. The result is in units of 2^-15 standard deviations.
constexpr std::int64_t bell(std::uint64_t bits) {
  const auto sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff);
  return static_cast<std::int64_t>(sum) - 98302;
}

/// Uniform integer in [-half, half], from 16 bits.
constexpr std::int32_t uniform(std::uint64_t bits16, std::int32_t half) {
  return static_cast<std::int32_t>(((bits16 & 0xffff) * static_cast<std::uint64_t>(2 * half + 1)) >> 16) -
         half;
}

}  // namespace pixhist
