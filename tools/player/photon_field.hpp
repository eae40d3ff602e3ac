#pragma once
// The charge that photons leave in the pixels of one image: Poisson numbers of photons, some of which share
// their charge with a neighbour, and bright reflections. Integers and counter hashes only. Immutable.

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/geometry.hpp"

namespace pixhist {

/// A line of the sample. `per_65536`: so many of 65536 pixels take a photon of it in a frame; where photons
/// are Poisson distributed, its weight among the lines.
struct FluorescenceLine {
  std::uint32_t energy_ev;
  std::uint32_t per_65536;
};

/// Poisson numbers from uniform ones.
class PoissonTable {
 public:
  static constexpr std::uint32_t largest_mean = 64;

  /// `mean_16`: mean times 2^16, above 0, at most largest_mean; else std::invalid_argument.
  explicit PoissonTable(std::uint64_t mean_16);
  /// The number whose cumulative probability passes uniform32 / 2^32.
  std::uint32_t operator()(std::uint32_t uniform32) const {
    std::uint32_t k = 0;
    while (uniform32 >= cumulative_[k]) ++k;
    return k;
  }

 private:
  std::vector<std::uint64_t> cumulative_;  // times 2^32; ends with 2^32 itself
};

class PhotonField {
 public:
  /// A reflection hits one pixel of this many in each frame, with 0.25 to 64 MeV: as many in each octave.
  static constexpr std::uint32_t pixels_per_reflection = 128;

  PhotonField(std::span<const FluorescenceLine> lines, std::uint64_t mean_16, std::uint32_t shared_per_256,
              bool reflections);

  /// Adds to `energies_ev` (row by row, as many as `shape` has) what the image `stream` names leaves there. A
  /// photon that shares leaves 0 to 127/256 of its energy in one of the four neighbours; what would leave the
  /// image stays.
  void deposit(FrameShape shape, std::uint64_t stream, std::span<std::uint32_t> energies_ev) const;

 private:
  std::uint32_t line_energy(std::uint64_t bits16) const;
  void add_photon(FrameShape shape, std::size_t row, std::size_t col, std::uint64_t bits,
                  std::span<std::uint32_t> energies_ev) const;

  std::vector<FluorescenceLine> lines_;
  std::uint32_t weights_ = 0;  // of all lines
  PoissonTable photons_;
  std::uint32_t shared_per_256_;
  bool reflections_;
};

}  // namespace pixhist
