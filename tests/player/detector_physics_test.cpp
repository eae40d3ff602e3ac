#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "tools/player/photon_field.hpp"
#include "tools/player/simulated_detector.hpp"

namespace pixhist {
namespace {

constexpr FrameShape shape{64, 80};

std::vector<std::uint16_t> image_of(const SimulatedDetector& detector, std::uint64_t image) {
  std::vector<std::byte> bytes(detector.frame_bytes());
  detector.render(image, bytes);
  std::vector<std::uint16_t> pixels(bytes.size() / 2);
  std::memcpy(pixels.data(), bytes.data(), bytes.size());
  return pixels;
}

std::uint64_t hash_of(const DetectorPhysics& physics) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const auto pixel : image_of(SimulatedDetector({37, 53}, PixelType::u16, 7, physics), 3)) {
    hash = (hash ^ pixel) * 0x100000001b3ULL;
  }
  return hash;
}

DetectorPhysics physics_of(double photons, std::uint32_t shared_per_256 = 0, bool jungfrau_gain = false) {
  DetectorPhysics physics;
  physics.photons_16 = static_cast<std::uint64_t>(photons * 65536);
  physics.shared_per_256 = shared_per_256;
  physics.jungfrau_gain = jungfrau_gain;
  return physics;
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& energies) {
  return std::accumulate(energies.begin(), energies.end(), std::uint64_t{0});
}

TEST_CASE("photons, sharing and gain stages give the same bytes on every machine") {
  // Taken from this code: a change of one changes what every recorded seed stands for.
  CHECK(hash_of(physics_of(0.5)) == 11472348834014438966ULL);
  CHECK(hash_of(physics_of(0.5, 100)) == 1141826586019069530ULL);
  CHECK(hash_of(physics_of(0.5, 100, true)) == 8012416601878398311ULL);
  CHECK(hash_of({}) == hash_of({1, 1, std::nullopt, 0, false}));
  CHECK(hash_of({}) != hash_of(physics_of(0.05)));
}

TEST_CASE("Poisson numbers have the mean, the variance and the zeros of their distribution") {
  for (const double mean : {0.001, 0.05, 1.0, 7.3, 64.0}) {
    CAPTURE(mean);
    const PoissonTable table(static_cast<std::uint64_t>(mean * 65536));
    constexpr std::uint64_t steps = 1 << 20;
    double sum = 0;
    double squares = 0;
    double zeros = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
      const double k = table(static_cast<std::uint32_t>(i << 12 | 0x800));
      sum += k;
      squares += k * k;
      zeros += k == 0;
    }
    const double seen = sum / steps;
    CHECK(seen == doctest::Approx(std::floor(mean * 65536) / 65536).epsilon(0.001));
    CHECK(squares / steps - seen * seen == doctest::Approx(mean).epsilon(0.02));
    CHECK(std::abs(zeros / steps - std::exp(-mean)) < 2e-5);
  }
  CHECK(PoissonTable(65536)(0xffffffff) < 40);
  CHECK_THROWS_AS(PoissonTable(0), std::invalid_argument);
  CHECK_THROWS_AS(PoissonTable((64 << 16) + 1), std::invalid_argument);
}

TEST_CASE("the mean energy is that of the lines") {
  const SimulatedDetector detector(shape, PixelType::u16, 1, physics_of(2));
  double weights = 0;
  double line_mean = 0;
  for (const auto& line : SimulatedDetector::lines) {
    weights += line.per_65536;
    line_mean += double{1} * line.energy_ev * line.per_65536;
  }
  line_mean /= weights;
  double sum = 0;
  for (std::uint64_t i = 0; i < 20; ++i) sum += static_cast<double>(sum_of(detector.energies_ev(i)));
  CHECK(sum / 20 / shape.pixels() == doctest::Approx(2 * line_mean).epsilon(0.01));
}

TEST_CASE("sharing moves charge to neighbours and loses none") {
  const SimulatedDetector apart(shape, PixelType::u16, 1, physics_of(0.3));
  const SimulatedDetector half(shape, PixelType::u16, 1, physics_of(0.3, 128));
  const SimulatedDetector all(shape, PixelType::u16, 1, physics_of(0.3, 256));
  const auto e0 = apart.energies_ev(0);
  const auto e1 = half.energies_ev(0);
  const auto e2 = all.energies_ev(0);
  CHECK(sum_of(e0) == sum_of(e1));
  CHECK(sum_of(e0) == sum_of(e2));
  const auto hit = [](const auto& energies) {
    return std::count_if(energies.begin(), energies.end(), [](auto e) { return e != 0; });
  };
  CHECK(hit(e0) < hit(e1));
  CHECK(hit(e1) < hit(e2));
  // What one pixel alone has lost, its four neighbours have.
  PhotonField field(SimulatedDetector::lines, 65536, 256, false);
  std::vector<std::uint32_t> lonely(1);
  field.deposit({1, 1}, 5, lonely);
  std::vector<std::uint32_t> same(1);
  PhotonField(SimulatedDetector::lines, 65536, 0, false).deposit({1, 1}, 5, same);
  CHECK(lonely == same);  // nowhere to go
}

TEST_CASE("gain stages are entered where the one before is full, and read what they should") {
  DetectorPhysics physics = physics_of(1, 30, true);
  physics.dead_per_4096 = 100;
  physics.hot_per_4096 = 0;
  const SimulatedDetector detector(shape, PixelType::u16, 1, physics);
  std::size_t in_stage[3] = {};
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto energies = detector.energies_ev(i);
    const auto pixels = image_of(detector, i);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const int code = pixels[p] >> 14;
      REQUIRE(code != 2);
      const int stage = code == 3 ? 2 : code;
      ++in_stage[stage];
      const auto truth = detector.truth(p, stage);
      const double expected = truth.pedestal_adu + energies[p] * 1e-3 * truth.gain_adu_per_kev;
      const double adc = pixels[p] & 0x3fff;
      REQUIRE(std::abs(adc + 0.5 - expected) <= 3 * truth.noise_adu + 2);
      if (truth.kind == SimulatedDetector::PixelKind::dead) REQUIRE(stage == 0);
      if (stage == 0) REQUIRE(adc <= SimulatedDetector::leaves_stage_0_adu);
      if (stage == 1) REQUIRE(adc >= SimulatedDetector::leaves_stage_1_adu);
      if (stage == 1) REQUIRE(energies[p] > 250'000);
      if (stage == 2) REQUIRE(energies[p] > 9'000'000);
    }
  }
  const auto reflections = 10.0 * shape.pixels() / PhotonField::pixels_per_reflection;
  CHECK(in_stage[1] > reflections / 2);
  CHECK(in_stage[2] > reflections / 8);
  CHECK(in_stage[2] < in_stage[1]);
}

TEST_CASE("dead and hot pixels are as many as asked for") {
  DetectorPhysics physics;
  physics.dead_per_4096 = 409;
  physics.hot_per_4096 = 205;
  const SimulatedDetector detector({256, 256}, PixelType::u16, 1, physics);
  double dead = 0;
  double hot = 0;
  for (std::size_t p = 0; p < detector.shape().pixels(); ++p) {
    dead += detector.truth(p).kind == SimulatedDetector::PixelKind::dead;
    hot += detector.truth(p).kind == SimulatedDetector::PixelKind::hot;
  }
  CHECK(dead / 65536 == doctest::Approx(0.1).epsilon(0.05));
  CHECK(hot / 65536 == doctest::Approx(0.05).epsilon(0.07));
}

TEST_CASE("physics that cannot be is refused") {
  DetectorPhysics too_many;
  too_many.dead_per_4096 = 4000;
  too_many.hot_per_4096 = 97;
  CHECK_THROWS_AS(SimulatedDetector(shape, PixelType::u16, 1, too_many), std::invalid_argument);
  CHECK_THROWS_AS(SimulatedDetector(shape, PixelType::u32, 1, physics_of(1, 0, true)), std::invalid_argument);
  CHECK_THROWS_AS(SimulatedDetector(shape, PixelType::u16, 1, physics_of(1, 257)), std::invalid_argument);
  CHECK_THROWS_AS(SimulatedDetector(shape, PixelType::u16, 1, physics_of(65)), std::invalid_argument);
  CHECK_THROWS_AS(SimulatedDetector(shape, PixelType::u16, 1).energies_ev(0), std::logic_error);
}

}  // namespace
}  // namespace pixhist
