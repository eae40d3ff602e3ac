#include "tools/player/photon_field.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tools/player/counter_hash.hpp"

namespace pixhist {

namespace {

constexpr std::uint64_t one = 1ULL << 32;

std::uint32_t reflection_ev(std::uint64_t bits13) {
  const auto octave = bits13 & 7;
  const auto within = bits13 >> 3 & 0x3ff;
  return static_cast<std::uint32_t>((250'000ULL << octave) * (1024 + within) >> 10);
}

}  // namespace

// Weights mean^k / k! are scaled so that the largest is 2^40: products stay below 2^62, and small means as
// well as large ones keep their precision.
PoissonTable::PoissonTable(std::uint64_t mean_16) {
  if (mean_16 == 0 || mean_16 > std::uint64_t{largest_mean} << 16) {
    throw std::invalid_argument("a mean of " + std::to_string(static_cast<double>(mean_16) / 65536) +
                                " photons; allowed: from 1/65536 to " + std::to_string(largest_mean));
  }
  const auto mode = mean_16 >> 16;
  std::vector<std::uint64_t> weights(mode + 1);
  weights[mode] = 1ULL << 40;
  for (auto k = mode; k > 0; --k) weights[k - 1] = weights[k] * (k << 16) / mean_16;
  for (std::uint64_t k = mode + 1; weights.back() != 0; ++k) {
    weights.push_back(weights.back() * mean_16 / (k << 16));
  }
  std::uint64_t total = 0;
  for (const auto weight : weights) total += weight;
  std::uint64_t sum = 0;
  const auto unit = std::max<std::uint64_t>(total >> 15, 1);
  for (const auto weight : weights) {
    sum += weight;
    cumulative_.push_back((sum << 17) / unit);
  }
  cumulative_.back() = one;  // an end for every number, whatever was rounded
}

PhotonField::PhotonField(std::span<const FluorescenceLine> lines, std::uint64_t mean_16,
                         std::uint32_t shared_per_256, bool reflections)
    : lines_(lines.begin(), lines.end()),
      photons_(mean_16),
      shared_per_256_(shared_per_256),
      reflections_(reflections) {
  for (const auto& line : lines_) weights_ += line.per_65536;
}

std::uint32_t PhotonField::line_energy(std::uint64_t bits16) const {
  auto at = static_cast<std::uint32_t>(bits16 * weights_ >> 16);
  for (const auto& line : lines_) {
    if (at < line.per_65536) return line.energy_ev;
    at -= line.per_65536;
  }
  return 0;
}

void PhotonField::deposit(FrameShape shape, std::uint64_t stream,
                          std::span<std::uint32_t> energies_ev) const {
  std::uint64_t counter = stream;
  std::size_t pixel = 0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t col = 0; col < shape.cols; ++col, ++pixel) {
      const auto bits = mix(counter += golden);
      const auto photons = photons_(static_cast<std::uint32_t>(bits));
      for (std::uint32_t i = 1; i <= photons; ++i) {
        add_photon(shape, row, col, mix(bits + i * golden), energies_ev);
      }
      if (reflections_ && bits >> 57 == 0) energies_ev[pixel] += reflection_ev(bits >> 40 & 0x1fff);
    }
  }
}

void PhotonField::add_photon(FrameShape shape, std::size_t row, std::size_t col, std::uint64_t bits,
                             std::span<std::uint32_t> energies_ev) const {
  const auto energy = line_energy(bits & 0xffff);
  const auto pixel = row * shape.cols + col;
  std::uint32_t shared = 0;
  if ((bits >> 16 & 0xff) < shared_per_256_) {
    const auto side = bits >> 24 & 3;
    const bool inside = side == 0   ? row > 0
                        : side == 1 ? col > 0
                        : side == 2 ? col + 1 < shape.cols
                                    : row + 1 < shape.rows;
    if (inside) {
      const auto neighbour = side == 0   ? pixel - shape.cols
                             : side == 1 ? pixel - 1
                             : side == 2 ? pixel + 1
                                         : pixel + shape.cols;
      shared = static_cast<std::uint32_t>(energy * (bits >> 26 & 0x7f) >> 8);
      energies_ev[neighbour] += shared;
    }
  }
  energies_ev[pixel] += energy - shared;
}

}  // namespace pixhist
