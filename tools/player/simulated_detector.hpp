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
// Clipped to the range of the type. Unless told otherwise one pixel in 4096 is dead (its pedestal, nothing
// else), one in 4096 hot (eight times the noise).
//
// Immutable after construction: any thread may render.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "tools/player/photon_field.hpp"

namespace pixhist {

struct DetectorPhysics {
  std::uint32_t dead_per_4096 = 1;
  std::uint32_t hot_per_4096 = 1;
  /// Mean photons in a pixel and frame, times 2^16, Poisson distributed. None: one photon or none, as often
  /// as the lines say; with the options below: Poisson with the same mean.
  std::optional<std::uint64_t> photons_16;
  std::uint32_t shared_per_256 = 0;  // photons that share their charge with a neighbour
  /// u16 only: bits 14-15 are the gain stage (0, 1, 3), bits 0-13 the ADU in it; bright reflections
  /// (PhotonField) reach the upper two.
  bool jungfrau_gain = false;

  bool default_photons() const { return !photons_16 && shared_per_256 == 0 && !jungfrau_gain; }
};

class SimulatedDetector {
 public:
  static constexpr std::array<FluorescenceLine, 3> lines{
      {{8048, 1966}, {8905, 393}, {17479, 983}}};  // Cu, Cu, Mo
  static constexpr std::int32_t mean_pedestal_adu = 2000;
  static constexpr std::int32_t pedestal_spread_adu = 150;  // uniform, to either side
  /// Stage 0 is left where it would read more than this, stage 1 (which falls) where it would read less.
  static constexpr std::int32_t leaves_stage_0_adu = 14000;
  static constexpr std::int32_t leaves_stage_1_adu = 1000;

  /// Throws std::invalid_argument if the physics cannot be had.
  SimulatedDetector(FrameShape shape, PixelType type, std::uint64_t seed,
                    const DetectorPhysics& physics = {});

  FrameShape shape() const { return shape_; }
  PixelType pixel_type() const { return type_; }
  std::size_t frame_bytes() const { return shape_.pixels() * size_of(type_); }

  /// Writes image `image` into `bytes` (frame_bytes() long, of any alignment).
  void render(std::uint64_t image, std::span<std::byte> bytes) const;

  /// Energy in eV that image `image` has in each pixel; only where default_photons() is false.
  std::vector<std::uint32_t> energies_ev(std::uint64_t image) const;

  enum class PixelKind : std::uint8_t { good, dead, hot };
  struct PixelTruth {
    double pedestal_adu;
    double noise_adu;  // standard deviation
    double gain_adu_per_kev;
    PixelKind kind;
  };
  /// What the pixel was made with, for tests that look for its peaks. Stages 1 and 2 (jungfrau_gain) fall
  /// with the signal: their gain is negative.
  PixelTruth truth(std::size_t pixel, int stage = 0) const;

 private:
  /// In 1/256 ADU; gain in 1/2^18 ADU per eV, so that gain * eV >> 10 is in 1/256 ADU.
  struct PixelResponse {
    std::int32_t pedestal;
    std::int32_t noise;
    std::int32_t gain;
    PixelKind kind;
  };

  template <class Convert>
  void render_with_field(std::uint64_t image, const Convert& convert) const;
  std::uint64_t stream_of(std::uint64_t image) const;
  PixelResponse response(std::size_t pixel, int stage) const;
  std::uint16_t staged_pixel(std::size_t pixel, std::uint64_t bits, std::uint32_t energy_ev) const;

  FrameShape shape_;
  PixelType type_;
  std::uint64_t seed_;
  bool jungfrau_gain_;
  std::optional<PhotonField> field_;  // none: the default photons
  std::vector<PixelResponse> response_;
};

}  // namespace pixhist
