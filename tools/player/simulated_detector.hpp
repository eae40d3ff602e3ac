#pragma once
// A detector that is not there: each pixel has its own pedestal, noise and gain, and now and then takes a
// photon of one of a few fluorescence lines. Same seed, same image number: same bytes on every machine, since
// all arithmetic is on integers and every random number is a hash of (seed, image, pixel).
//
// Values before conversion are in ADU of a JUNGFRAU-like detector in its most sensitive gain:
//   u16, u32      ADU
//   u8            ADU / 16
//   i16, i32      ADU - mean_pedestal, so that pedestal noise goes below zero
//   f32, f64      the same in steps of 1/256 ADU
// Clipped to the range of the type. One pixel in 4096 is dead (its pedestal, nothing else), one in 4096 hot
// (eight times the noise).
//
// Immutable after construction: any thread may render.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"

namespace pixhist {

/// A line of the sample: photons of `energy_ev` hit `per_65536` of 65536 pixels per frame.
struct FluorescenceLine {
  std::uint32_t energy_ev;
  std::uint32_t per_65536;
};

class SimulatedDetector {
 public:
  static constexpr std::array<FluorescenceLine, 3> lines{
      {{8048, 1966}, {8905, 393}, {17479, 983}}};  // Cu, Cu, Mo
  static constexpr std::int32_t mean_pedestal_adu = 2000;
  static constexpr std::int32_t pedestal_spread_adu = 150;  // uniform, to either side

  SimulatedDetector(FrameShape shape, PixelType type, std::uint64_t seed);

  FrameShape shape() const { return shape_; }
  PixelType pixel_type() const { return type_; }
  std::size_t frame_bytes() const { return shape_.pixels() * size_of(type_); }

  /// Writes image `image` into `bytes` (frame_bytes() long, of any alignment).
  void render(std::uint64_t image, std::span<std::byte> bytes) const;

  enum class PixelKind : std::uint8_t { good, dead, hot };
  struct PixelTruth {
    double pedestal_adu;
    double noise_adu;  // standard deviation
    double gain_adu_per_kev;
    PixelKind kind;
  };
  /// What the pixel was made with, for tests that look for its peaks.
  PixelTruth truth(std::size_t pixel) const;

 private:
  /// In 1/256 ADU; gain in 1/2^18 ADU per eV, so that gain * eV >> 10 is in 1/256 ADU.
  struct PixelResponse {
    std::int32_t pedestal;
    std::int32_t noise;
    std::int32_t gain;
    PixelKind kind;
  };

  FrameShape shape_;
  PixelType type_;
  std::uint64_t seed_;
  std::vector<PixelResponse> response_;
};

}  // namespace pixhist
