#include "tools/player/simulated_detector.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

namespace pixhist {
namespace {

std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3ULL;
  return hash;
}

std::vector<std::byte> bytes_of_image(const SimulatedDetector& detector, std::uint64_t image) {
  std::vector<std::byte> bytes(detector.frame_bytes());
  detector.render(image, bytes);
  return bytes;
}

std::uint64_t hash_of(PixelType type, std::uint64_t seed, std::uint64_t image) {
  return fnv1a(bytes_of_image(SimulatedDetector({37, 53}, type, seed), image));
}

TEST_CASE("the same seed gives the same bytes on every machine") {
  // Taken from this code: a change of one changes what every recorded seed stands for.
  const std::map<PixelType, std::uint64_t> golden{
      {PixelType::u8, 3898504911010338735ULL},   {PixelType::u16, 5122061338202512086ULL},
      {PixelType::u32, 15564498687682580446ULL}, {PixelType::i16, 18226854413982044013ULL},
      {PixelType::i32, 14956951310291971711ULL}, {PixelType::f32, 4970724569721969759ULL},
      {PixelType::f64, 16347641532289479427ULL},
  };
  for (const auto& expected : golden) {
    CAPTURE(name_of(expected.first));
    CHECK(hash_of(expected.first, 7, 3) == expected.second);
  }
}

TEST_CASE("seed and image number both change the pixels") {
  const auto reference = hash_of(PixelType::u16, 7, 3);
  CHECK(hash_of(PixelType::u16, 7, 3) == reference);
  CHECK(hash_of(PixelType::u16, 8, 3) != reference);
  CHECK(hash_of(PixelType::u16, 7, 4) != reference);
}

// Values of one pixel over many images, in ADU.
std::vector<double> values_of(const SimulatedDetector& detector, std::size_t pixel, std::uint64_t images) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < images; ++i) {
    const auto bytes = bytes_of_image(detector, i);
    std::uint16_t value = 0;
    std::memcpy(&value, bytes.data() + pixel * sizeof value, sizeof value);
    values.push_back(value);
  }
  return values;
}

// Mean of the values within `half` of `centre`, and how many there were.
std::pair<double, std::size_t> peak(const std::vector<double>& values, double centre, double half) {
  double sum = 0;
  std::size_t n = 0;
  for (const double v : values) {
    if (std::abs(v - centre) <= half) sum += v, ++n;
  }
  return {n > 0 ? sum / static_cast<double>(n) : 0, n};
}

TEST_CASE("a good pixel shows its pedestal, its noise and the lines, each where and as often as it should") {
  const SimulatedDetector detector({2, 5}, PixelType::u16, 1);
  constexpr std::uint64_t images = 60'000;
  const std::size_t pixel = 3;
  const auto truth = detector.truth(pixel);
  REQUIRE(truth.kind == SimulatedDetector::PixelKind::good);
  const auto values = values_of(detector, pixel, images);

  const auto [pedestal, dark] = peak(values, truth.pedestal_adu, 3.1 * truth.noise_adu);
  CHECK(std::abs(pedestal + 0.5 - truth.pedestal_adu) < 0.5);  // + 0.5: pixels round down
  double spread = 0;
  for (const double v : values) {
    if (std::abs(v - truth.pedestal_adu) <= 3.1 * truth.noise_adu) spread += (v - pedestal) * (v - pedestal);
  }
  CHECK(std::sqrt(spread / static_cast<double>(dark)) == doctest::Approx(truth.noise_adu).epsilon(0.03));

  double expected_dark = 1;
  for (const auto& line : SimulatedDetector::lines) expected_dark -= line.per_65536 / 65536.0;
  CHECK(static_cast<double>(dark) == doctest::Approx(expected_dark * images).epsilon(0.01));

  // The two copper lines lie closer than their width, so they are looked at as one.
  const auto& [k_alpha, k_beta, mo] = SimulatedDetector::lines;
  const double copper_share = (k_alpha.per_65536 + k_beta.per_65536) / 65536.0;
  const double copper_ev =
      (double{1} * k_alpha.energy_ev * k_alpha.per_65536 + double{1} * k_beta.energy_ev * k_beta.per_65536) /
      (k_alpha.per_65536 + k_beta.per_65536);
  const auto adu_of = [&](double ev) { return truth.pedestal_adu + ev * 1e-3 * truth.gain_adu_per_kev; };
  const auto [copper, copper_hits] = peak(values, adu_of(copper_ev), 80);
  CHECK(std::abs(copper + 0.5 - adu_of(copper_ev)) < 2);
  CHECK(static_cast<double>(copper_hits) == doctest::Approx(copper_share * images).epsilon(0.1));
  const auto [molybdenum, mo_hits] = peak(values, adu_of(mo.energy_ev), 60);
  CHECK(std::abs(molybdenum + 0.5 - adu_of(mo.energy_ev)) < 2);
  CHECK(static_cast<double>(mo_hits) == doctest::Approx(mo.per_65536 / 65536.0 * images).epsilon(0.15));
}

TEST_CASE("pedestals differ from pixel to pixel around their mean; few pixels are dead or hot") {
  const SimulatedDetector detector({256, 256}, PixelType::u16, 1);
  double sum = 0;
  std::size_t dead = 0;
  std::size_t hot = 0;
  double lowest = 1e9;
  double highest = 0;
  for (std::size_t p = 0; p < detector.shape().pixels(); ++p) {
    const auto truth = detector.truth(p);
    sum += truth.pedestal_adu;
    lowest = std::min(lowest, truth.pedestal_adu);
    highest = std::max(highest, truth.pedestal_adu);
    dead += truth.kind == SimulatedDetector::PixelKind::dead;
    hot += truth.kind == SimulatedDetector::PixelKind::hot;
  }
  CHECK(std::abs(sum / static_cast<double>(detector.shape().pixels()) -
                 SimulatedDetector::mean_pedestal_adu) < 2);
  CHECK(lowest >= SimulatedDetector::mean_pedestal_adu - SimulatedDetector::pedestal_spread_adu);
  CHECK(lowest < SimulatedDetector::mean_pedestal_adu - 140);
  CHECK(highest <= SimulatedDetector::mean_pedestal_adu + SimulatedDetector::pedestal_spread_adu);
  CHECK(highest > SimulatedDetector::mean_pedestal_adu + 140);
  CHECK(dead > 4);
  CHECK(dead < 40);
  CHECK(hot > 4);
  CHECK(hot < 40);
}

TEST_CASE("a dead pixel always reads its pedestal") {
  const SimulatedDetector detector({256, 256}, PixelType::u16, 1);
  std::size_t pixel = 0;
  while (detector.truth(pixel).kind != SimulatedDetector::PixelKind::dead) ++pixel;
  for (const double v : values_of(detector, pixel, 20))
    CHECK(v == std::floor(detector.truth(pixel).pedestal_adu));
}

template <class T>
std::vector<double> first_image(PixelType type) {
  const auto bytes = bytes_of_image(SimulatedDetector({16, 16}, type, 1), 0);
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    values.push_back(static_cast<double>(value));
  }
  return values;
}

TEST_CASE("every pixel type carries the same image in its own units") {
  const auto adu = first_image<std::uint16_t>(PixelType::u16);
  const auto u8 = first_image<std::uint8_t>(PixelType::u8);
  const auto u32 = first_image<std::uint32_t>(PixelType::u32);
  const auto i16 = first_image<std::int16_t>(PixelType::i16);
  const auto i32 = first_image<std::int32_t>(PixelType::i32);
  const auto f32 = first_image<float>(PixelType::f32);
  const auto f64 = first_image<double>(PixelType::f64);
  bool negative = false;
  for (std::size_t p = 0; p < adu.size(); ++p) {
    CHECK(u32[p] == adu[p]);
    CHECK(u8[p] == std::min(255.0, std::floor(adu[p] / 16)));
    CHECK(i16[p] == adu[p] - SimulatedDetector::mean_pedestal_adu);
    CHECK(i32[p] == i16[p]);
    CHECK(f64[p] == f32[p]);
    CHECK(std::floor(f64[p]) == i16[p]);
    negative = negative || i16[p] < 0;
  }
  CHECK(negative);
}

TEST_CASE("a buffer of another size is refused") {
  const SimulatedDetector detector({4, 4}, PixelType::u16, 1);
  std::vector<std::byte> bytes(detector.frame_bytes() - 1);
  CHECK_THROWS_AS(detector.render(0, bytes), std::invalid_argument);
}

}  // namespace
}  // namespace pixhist
