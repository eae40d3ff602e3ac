#include "core/snapshot/snapshot.hpp"

#include <doctest/doctest.h>

using namespace pixhist;

namespace {

/// 3 × 4 pixels from (10, 20), bins [5, 11): count = 1000 * row + 10 * col + bin, one cell far above 2^16.
struct Held {
  Held() {
    snapshot.window = {{10, 13, 20, 24}, {5, 11}, StorageType::u32};
    snapshot.counts = memory.allocate(snapshot.window.count_bytes(), Paging::on_demand);
    snapshot.flow = memory.allocate(snapshot.window.flow_bytes(), Paging::on_demand);
    auto counts = snapshot.counts.as<std::uint32_t>();
    auto flow = snapshot.flow.as<std::uint32_t>();
    std::size_t i = 0;
    for (std::uint32_t r = 10; r < 13; ++r)
      for (std::uint32_t c = 20; c < 24; ++c)
        for (std::uint32_t b = 5; b < 11; ++b) counts[i++] = count(r, c, b);
    for (std::uint32_t k = 0; k < flow_count; ++k)
      for (std::uint32_t p = 0; p < 12; ++p) flow[k * 12 + p] = 100 * k + p;
    snapshot.cut.run = "r";
  }
  static std::uint32_t count(std::uint32_t r, std::uint32_t c, std::uint32_t b) {
    return r == 12 && c == 23 && b == 9 ? 4'000'000'000U : 1000 * r + 10 * c + b;
  }
  MemoryAccount account;
  PageableMemory memory{account};
  Snapshot snapshot;
};

template <class T>
void check_extract(Held& held, StorageType dtype, T cap, std::uint64_t capped) {
  const auto part = extract(held.snapshot, {{11, 13, 21, 24}, {6, 10}, dtype}, held.memory);
  CHECK(part->capped == capped);
  CHECK(part->cut.run == "r");
  const auto counts = part->counts.as<T>();
  REQUIRE(counts.size() == 2 * 3 * 4);
  std::size_t i = 0;
  for (std::uint32_t r = 11; r < 13; ++r)
    for (std::uint32_t c = 21; c < 24; ++c)
      for (std::uint32_t b = 6; b < 10; ++b, ++i) {
        const auto exact = Held::count(r, c, b);
        CHECK(counts[i] ==
              (static_cast<double>(exact) > static_cast<double>(cap) ? cap : static_cast<T>(exact)));
      }
  CHECK(part->flow.as<std::uint32_t>()[6 + 2] == 100 + 7);  // `above` of pixel (11, 23): row 1, column 3
}

}  // namespace

TEST_CASE("a part of a held snapshot, in every dtype") {
  Held held;
  check_extract<std::uint32_t>(held, StorageType::u32, 4'294'967'295U, 0);
  check_extract<std::uint16_t>(held, StorageType::u16, 65535, 1);
  check_extract<std::uint8_t>(held, StorageType::u8, 255, 24);
  check_extract<float>(held, StorageType::f32, 1e30F, 0);
}

TEST_CASE("what a snapshot does not hold is refused") {
  Held held;
  CHECK_THROWS_AS(extract(held.snapshot, {{9, 13, 20, 24}, {5, 11}, StorageType::u32}, held.memory),
                  std::invalid_argument);
  CHECK_THROWS_AS(extract(held.snapshot, {{10, 13, 20, 25}, {5, 11}, StorageType::u32}, held.memory),
                  std::invalid_argument);
  CHECK_THROWS_AS(extract(held.snapshot, {{10, 13, 20, 24}, {4, 11}, StorageType::u32}, held.memory),
                  std::invalid_argument);
  CHECK_THROWS_AS(extract(held.snapshot, {{10, 10, 20, 24}, {5, 11}, StorageType::u32}, held.memory),
                  std::invalid_argument);
  const auto narrow = extract(held.snapshot, {{10, 13, 20, 24}, {5, 11}, StorageType::u16}, held.memory);
  CHECK_NOTHROW(extract(*narrow, {{10, 11, 20, 24}, {5, 6}, StorageType::u16}, held.memory));
  CHECK_THROWS_AS(extract(*narrow, {{10, 11, 20, 24}, {5, 6}, StorageType::u32}, held.memory),
                  std::invalid_argument);
}
