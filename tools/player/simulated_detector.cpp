#include "tools/player/simulated_detector.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "tools/player/counter_hash.hpp"

namespace pixhist {

namespace {

constexpr std::int32_t one_adu = 256;

// Of stages 1 and 2 against stage 0: gains of JUNGFRAU are near 41.5, -1.4 and -0.11 ADU per keV.
constexpr std::int32_t stage_gain_per_1024[3] = {1024, -35, -3};
constexpr std::int32_t stage_pedestal_adu[3] = {SimulatedDetector::mean_pedestal_adu, 15000, 15400};
constexpr std::int32_t stage_noise_divisor[3] = {1, 4, 4};
constexpr std::uint32_t stage_code[3] = {0, 1, 3};
constexpr std::int64_t largest_adc = 0x3fff;

constexpr std::uint32_t photon_energy(std::uint32_t uniform16) {
  for (const auto& line : SimulatedDetector::lines) {
    if (uniform16 < line.per_65536) return line.energy_ev;
    uniform16 -= line.per_65536;
  }
  return 0;
}

constexpr std::uint64_t default_photons_16() {
  std::uint64_t sum = 0;
  for (const auto& line : SimulatedDetector::lines) sum += line.per_65536;
  return sum;
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

template <class T>
void store(std::span<std::byte> bytes, std::size_t pixel, T value) {
  std::memcpy(bytes.data() + pixel * sizeof value, &value, sizeof value);
}

void check(PixelType type, const DetectorPhysics& physics) {
  if (physics.jungfrau_gain && type != PixelType::u16) {
    throw std::invalid_argument("gain stages need the pixel type u16; given: " + std::string(name_of(type)));
  }
  if (physics.shared_per_256 > 256) throw std::invalid_argument("more than all photons share their charge");
  if (physics.dead_per_4096 > 4096 || physics.hot_per_4096 > 4096 - physics.dead_per_4096) {
    throw std::invalid_argument("more than all pixels dead or hot");
  }
}

}  // namespace

SimulatedDetector::SimulatedDetector(FrameShape shape, PixelType type, std::uint64_t seed,
                                     const DetectorPhysics& physics)
    : shape_(shape),
      type_(type),
      seed_(mix(seed + golden)),
      jungfrau_gain_(physics.jungfrau_gain),
      response_(shape.pixels()) {
  check(type, physics);
  if (!physics.default_photons()) {
    field_.emplace(lines, physics.photons_16.value_or(default_photons_16()), physics.shared_per_256,
                   physics.jungfrau_gain);
  }
  for (std::size_t p = 0; p < response_.size(); ++p) {
    const std::uint64_t bits = mix(seed_ + (p + 1) * golden);
    auto& r = response_[p];
    r.pedestal = (mean_pedestal_adu * one_adu) + uniform(bits, pedestal_spread_adu * one_adu);
    r.noise = 12 * one_adu + uniform(bits >> 16, 2 * one_adu);
    r.gain = 10880 + uniform(bits >> 32, 300);  // 41.5 ADU per keV, 3 % to either side
    const std::uint64_t fate = bits >> 52;
    r.kind = fate < physics.dead_per_4096                          ? PixelKind::dead
             : fate < physics.dead_per_4096 + physics.hot_per_4096 ? PixelKind::hot
                                                                   : PixelKind::good;
    if (r.kind == PixelKind::dead) r.noise = r.gain = 0;
    if (r.kind == PixelKind::hot) r.noise *= 8;
  }
}

// Two hashes apart from the one of the responses, so that neither images nor seeds share a sequence.
std::uint64_t SimulatedDetector::stream_of(std::uint64_t image) const {
  return mix(mix(seed_ ^ 0x5bd1e9955bd1e995ULL) + (image + 1) * golden);
}

void SimulatedDetector::render(std::uint64_t image, std::span<std::byte> bytes) const {
  if (bytes.size() != frame_bytes()) {
    throw std::invalid_argument("render: buffer of " + std::to_string(bytes.size()) +
                                " bytes for a frame of " + std::to_string(frame_bytes()));
  }
  if (jungfrau_gain_) {
    return render_with_field(image, [&](std::size_t p, std::uint64_t bits, std::uint32_t energy_ev) {
      store(bytes, p, staged_pixel(p, bits, energy_ev));
    });
  }
  visit_pixel_type(type_, [&]<class T>(TypeTag<T>) {
    const auto value_of = [](const PixelResponse& r, std::uint64_t bits, std::uint32_t energy_ev) {
      return r.pedestal + ((bell(bits) * r.noise) >> 15) + ((std::int64_t{energy_ev} * r.gain) >> 10);
    };
    if (field_) {
      return render_with_field(image, [&](std::size_t p, std::uint64_t bits, std::uint32_t energy_ev) {
        store(bytes, p, to_pixel<T>(value_of(response_[p], bits, energy_ev)));
      });
    }
    std::uint64_t counter = stream_of(image);
    for (std::size_t p = 0; p < response_.size(); ++p) {
      const std::uint64_t bits = mix(counter += golden);
      const auto energy_ev = photon_energy(static_cast<std::uint32_t>(bits >> 48));
      store(bytes, p, to_pixel<T>(value_of(response_[p], bits, energy_ev)));
    }
  });
}

template <class Convert>
void SimulatedDetector::render_with_field(std::uint64_t image, const Convert& convert) const {
  const auto energies = energies_ev(image);
  std::uint64_t counter = stream_of(image);
  for (std::size_t p = 0; p < response_.size(); ++p) convert(p, mix(counter += golden), energies[p]);
}

std::vector<std::uint32_t> SimulatedDetector::energies_ev(std::uint64_t image) const {
  if (!field_) throw std::logic_error("the default photons are not kept as energies");
  std::vector<std::uint32_t> energies(shape_.pixels());
  field_->deposit(shape_, mix(stream_of(image)), energies);
  return energies;
}

SimulatedDetector::PixelResponse SimulatedDetector::response(std::size_t pixel, int stage) const {
  auto r = response_.at(pixel);
  if (stage == 0) return r;
  const auto bits = mix(mix(seed_ + (pixel + 1) * golden) + static_cast<std::uint64_t>(stage) * golden);
  r.pedestal = stage_pedestal_adu[stage] * one_adu + uniform(bits, pedestal_spread_adu * one_adu);
  r.noise /= stage_noise_divisor[stage];
  r.gain = static_cast<std::int32_t>(std::int64_t{r.gain} * stage_gain_per_1024[stage] / 1024);
  return r;
}

std::uint16_t SimulatedDetector::staged_pixel(std::size_t pixel, std::uint64_t bits,
                                              std::uint32_t energy_ev) const {
  const auto adc_of = [&](const PixelResponse& r) {
    return (r.pedestal + ((bell(bits) * r.noise) >> 15) + ((std::int64_t{energy_ev} * r.gain) >> 10)) >> 8;
  };
  int stage = 0;
  auto adc = adc_of(response_[pixel]);
  if (adc > leaves_stage_0_adu) adc = adc_of(response(pixel, stage = 1));
  if (stage == 1 && adc < leaves_stage_1_adu) adc = adc_of(response(pixel, stage = 2));
  adc = std::clamp<std::int64_t>(adc, 0, largest_adc);
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(adc) | stage_code[stage] << 14);
}

SimulatedDetector::PixelTruth SimulatedDetector::truth(std::size_t pixel, int stage) const {
  const auto r = response(pixel, stage);
  return {r.pedestal / 256.0, r.noise / 256.0, r.gain * 1000.0 / (1 << 18), r.kind};
}

}  // namespace pixhist
