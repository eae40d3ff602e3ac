#include "core/snapshot/reductions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/snapshot/assembly.hpp"

using namespace pixhist;

namespace {

constexpr std::uint32_t bins = 11;
constexpr ReductionKind kinds[] = {ReductionKind::spectrum, ReductionKind::sum,  ReductionKind::moments,
                                   ReductionKind::median,   ReductionKind::mode, ReductionKind::max};

/// A detector of 8 × 9 with gaps, flipped modules and one of unknown place.
struct Modules {
  Modules() {
    std::mt19937 random(7);
    for (const auto& source : placed) {
      HistogramSpec spec;
      spec.shape = source.shape;
      spec.axis = {bins, 0, 11, AxisType::f32};
      auto& twin = counts.emplace_back(std::make_unique<CpuPixelCounts>(spec, memory, pool));
      std::vector<std::uint32_t> cells(spec.shape.pixels() * (bins + flow_count));
      for (auto& cell : cells) cell = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : 0;
      twin->restore(cells, 5, ~std::uint32_t{0});
    }
  }

  std::shared_ptr<Snapshot> read(const SnapshotWindow& window, std::optional<ReductionKind> kind) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->window = window;
    snapshot->reduction = kind;
    if (kind)
      snapshot->reduced = memory.allocate(reduced_bytes(*kind, window, placed.size()), Paging::on_demand);
    else
      snapshot->counts = memory.allocate(window.count_bytes(), Paging::on_demand);
    for (const auto& piece : plan_assembly(placed, *snapshot))
      CHECK(begin_piece(*counts[piece.source], piece)->ready());
    return snapshot;
  }

  const std::vector<PlacedSource> placed{{{3, 4}, Place{0, 0, false}},
                                         {{8, 9}, std::nullopt},
                                         {{3, 4}, Place{4, 1, true}},
                                         {{7, 2}, Place{0, 6, true}}};
  MemoryAccount account;
  PageableMemory memory{account};
  WorkerPool pool{2};
  std::vector<std::unique_ptr<CpuPixelCounts>> counts;
};

bool same_bytes(const HostBlock& a, const HostBlock& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

/// 2 pixels, bins [3, 6), as a cut of `frames` frames.
std::shared_ptr<Snapshot> cut_of(HostMemory& memory, std::vector<std::uint32_t> counts,
                                 std::uint64_t frames) {
  auto cut = std::make_shared<Snapshot>();
  cut->window = {{0, 1, 0, 2}, {3, 6}, StorageType::u32};
  cut->counts = memory.allocate(24, Paging::on_demand);
  std::memcpy(cut->counts.data(), counts.data(), 24);
  cut->cut.run = "r";
  cut->cut.batches = frames;
  cut->cut.sources.push_back({});
  cut->cut.sources[0].frames = frames;
  return cut;
}

}  // namespace

TEST_CASE("reductions read from placed and flipped modules are those of the assembled counts") {
  Modules modules;
  for (const Rect roi :
       {Rect{0, 8, 0, 9}, Rect{2, 6, 3, 7}, Rect{4, 5, 1, 2}, Rect{3, 4, 0, 6}, Rect{5, 8, 2, 9}}) {
    const SnapshotWindow window{roi, {2, 9}, StorageType::u32};
    const auto counts = modules.read(window, std::nullopt);
    for (const auto kind : kinds) {
      CAPTURE(kind);
      const auto read = modules.read(window, kind);
      const auto made = reduce(*counts, window, kind, modules.memory);
      if (kind == ReductionKind::spectrum)
        CHECK(sum_of_sources(*read) == sum_of_sources(*made));
      else
        CHECK(same_bytes(read->reduced, made->reduced));
    }
  }
}

TEST_CASE("a reduction of a part of what is held numbers bins as the axis does") {
  Modules modules;
  const auto held = modules.read({{1, 7, 1, 9}, {1, 10}, StorageType::u32}, std::nullopt);
  const SnapshotWindow part{{2, 6, 2, 8}, {3, 8}, StorageType::u32};
  for (const auto kind : kinds) {
    if (kind == ReductionKind::spectrum) continue;
    CHECK(same_bytes(reduce(*held, part, kind, modules.memory)->reduced, modules.read(part, kind)->reduced));
  }
  CHECK(sum_of_sources(*reduce(*held, part, ReductionKind::spectrum, modules.memory)) ==
        sum_of_sources(*modules.read(part, ReductionKind::spectrum)));
  CHECK_THROWS_AS(reduce(*held, {{0, 6, 2, 8}, {3, 8}}, ReductionKind::sum, modules.memory),
                  std::invalid_argument);
  CHECK_THROWS_AS(reduce(*held, {{2, 6, 2, 8}, {0, 8}}, ReductionKind::sum, modules.memory),
                  std::invalid_argument);
  const auto narrow = extract(*held, {{2, 6, 2, 8}, {3, 8}, StorageType::u16}, modules.memory);
  CHECK_THROWS_AS(reduce(*narrow, part, ReductionKind::sum, modules.memory), std::invalid_argument);
}

TEST_CASE("differences of reductions are reductions of differences") {
  MemoryAccount account;
  PageableMemory memory(account);
  const auto before = cut_of(memory, {1, 0, 4, 0, 0, 9}, 20);
  const auto now = cut_of(memory, {1, 7, 4, 4'000'000'000, 0, 10}, 30);
  const auto between = extract(*now, now->window, memory, before.get());
  const auto counts = between->counts.as<std::uint32_t>();
  CHECK(std::vector(counts.begin(), counts.end()) ==
        std::vector<std::uint32_t>{0, 7, 0, 4'000'000'000, 0, 1});
  for (const auto kind : {ReductionKind::spectrum, ReductionKind::sum, ReductionKind::moments}) {
    const auto of = [&](const SnapshotPtr& cut) { return reduce(*cut, cut->window, kind, memory); };
    const auto difference = subtract_reduced(*of(now), *of(before), memory);
    CHECK(same_bytes(difference->reduced, of(between)->reduced));
    CHECK(difference->cut.batches == 30);
    CHECK_THROWS_AS(subtract_reduced(*of(before), *of(now), memory), std::invalid_argument);
  }
  const auto narrow = extract(*now, {now->window.pixels, {3, 6}, StorageType::u8, 3}, memory, before.get());
  CHECK(narrow->counts.as<std::uint8_t>()[0] == 7);
  CHECK(narrow->counts.as<std::uint8_t>()[1] == 255);
  CHECK(narrow->capped == 1);
}

TEST_CASE("cuts of different runs have no difference, whatever tells them apart") {
  MemoryAccount account;
  PageableMemory memory(account);
  const auto before = cut_of(memory, {1, 0, 4, 0, 0, 9}, 20);
  const auto check = [&](const std::shared_ptr<Snapshot>& now) {
    CHECK_THROWS_AS(extract(*now, now->window, memory, before.get()), RunChanged);
    for (const auto kind : {ReductionKind::spectrum, ReductionKind::sum, ReductionKind::moments}) {
      const auto of = [&](const Snapshot& cut) { return reduce(cut, cut.window, kind, memory); };
      CHECK_THROWS_AS(subtract_reduced(*of(*now), *of(*before), memory), RunChanged);
    }
  };
  auto other_run = cut_of(memory, {1, 0, 4, 0, 0, 9}, 20);
  other_run->cut.run = "s";
  check(other_run);
  auto fewer_frames = cut_of(memory, {1, 0, 4, 0, 0, 9}, 20);
  fewer_frames->cut.sources[0].frames = 19;
  check(fewer_frames);
  check(cut_of(memory, {1, 0, 3, 0, 0, 8}, 20));  // fewer counts
}

TEST_CASE("neighbouring bins of a snapshot added up, then capped") {
  MemoryAccount account;
  PageableMemory memory(account);
  const auto held = cut_of(memory, {200, 50, 5, 200, 50, 6}, 20);
  const auto sum = extract(*held, {{0, 1, 0, 2}, {3, 6}, StorageType::u8, 3}, memory);
  CHECK(sum->counts.as<std::uint8_t>()[0] == 255);
  CHECK(sum->counts.as<std::uint8_t>()[1] == 255);
  CHECK(sum->capped == 1);  // 256; 255 is not cut
  CHECK_THROWS_AS(extract(*sum, {{0, 1, 0, 2}, {3, 6}, StorageType::u8}, memory), std::invalid_argument);
}
