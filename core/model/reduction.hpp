#pragma once
// What counts are reduced to: exact integers only, on the host and on the device by the same steps. Floats
// are made of them in one place, core/snapshot/statistics.hpp.

#include <cstddef>
#include <cstdint>

#include "core/model/host_device.hpp"

namespace pixhist {

/// k is the index of a bin on the axis, c its count.
enum class ReductionKind : std::uint8_t {
  spectrum,  // per bin: Σ c over pixels, std::uint64_t
  sum,       // per pixel: Σ c, std::uint64_t
  moments,   // per pixel: PixelMoments
  median,    // per pixel: the bin that holds the ⌊(Σc + 1)/2⌋-th count, as FoundBin
  mode,      // per pixel: the fullest bin, the lowest of equals, as FoundBin
  max        // per pixel: the highest bin that is not empty, as FoundBin
};

/// A bin index plus 1; 0 for a pixel without counts, as is a pixel of no source.
using FoundBin = std::uint32_t;

/// An unsigned integer of 128 bits, for host and device.
struct Uint128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  PIXHIST_HD constexpr Uint128& operator+=(std::uint64_t x) {
    low += x;
    high += low < x ? 1U : 0U;
    return *this;
  }
  PIXHIST_HD constexpr Uint128& operator+=(const Uint128& x) {
    *this += x.low;
    high += x.high;
    return *this;
  }
  PIXHIST_HD constexpr Uint128& operator-=(const Uint128& x) {
    high -= x.high + (low < x.low ? 1U : 0U);
    low -= x.low;
    return *this;
  }
  PIXHIST_HD constexpr Uint128& add_product(std::uint64_t a, std::uint32_t b) {
    const std::uint64_t upper = (a >> 32U) * b;
    *this += (a & 0xFFFFFFFFU) * b;
    *this += upper << 32U;
    high += upper >> 32U;
    return *this;
  }
  friend constexpr bool operator==(const Uint128&, const Uint128&) = default;
};

/// Sums over a run of at most `longest` neighbouring bins, j counted from its first. With c < 2^32 and j <
/// 2^10 every sum stays below 2^61.
struct RunMoments {
  static constexpr std::uint32_t longest = 1024;
  std::uint64_t n = 0;
  std::uint64_t s1 = 0;
  std::uint64_t s2 = 0;

  PIXHIST_HD constexpr void add(std::uint32_t j, std::uint32_t count) {
    n += count;
    s1 += std::uint64_t{count} * j;
    s2 += std::uint64_t{count} * (j * j);
  }
};

/// n = Σc, s1 = Σc·k, s2 = Σc·k². With c < 2^32 and k < 2^16: n < 2^48, s1 < 2^63, s2 < 2^79. Plain bytes: it
/// comes from the device as it is.
struct PixelMoments {
  std::uint64_t n = 0;
  std::uint64_t s1 = 0;
  Uint128 s2;

  /// The sums of a run whose first bin is k: Σc·(k+j)² = k²·Σc + 2k·Σc·j + Σc·j².
  PIXHIST_HD constexpr void add(std::uint32_t k, const RunMoments& run) {
    n += run.n;
    s1 += run.n * k + run.s1;
    s2.add_product(run.n, k * k).add_product(run.s1, 2 * k);
    s2 += run.s2;
  }
  PIXHIST_HD constexpr PixelMoments& operator+=(const PixelMoments& x) {
    n += x.n;
    s1 += x.s1;
    s2 += x.s2;
    return *this;
  }
  PIXHIST_HD constexpr PixelMoments& operator-=(const PixelMoments& x) {
    n -= x.n;
    s1 -= x.s1;
    s2 -= x.s2;
    return *this;
  }
  friend constexpr bool operator==(const PixelMoments&, const PixelMoments&) = default;
};

static_assert(sizeof(PixelMoments) == 32, "it travels as plain bytes");

/// The count of which median names the bin.
PIXHIST_HD constexpr std::uint64_t median_count(std::uint64_t n) { return (n + 1) / 2; }

/// Bytes of one value: of a bin (spectrum) or of a pixel (all others).
constexpr std::size_t value_bytes(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::spectrum:
    case ReductionKind::sum: return sizeof(std::uint64_t);
    case ReductionKind::moments: return sizeof(PixelMoments);
    default: return sizeof(FoundBin);
  }
}

/// Whether the reduction of a difference is the difference of the reductions.
constexpr bool is_linear(ReductionKind kind) { return kind <= ReductionKind::moments; }

}  // namespace pixhist
