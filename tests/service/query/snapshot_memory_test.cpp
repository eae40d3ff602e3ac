#include "service/query/snapshot_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "tests/service/query/counting_memory.hpp"

using namespace pixhist;
using test::CountingMemory;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

struct Bench {
  CountingMemory system;
  ManualClock clock;
  SnapshotMemory memory{system, 100 * mib, clock};

  void dirty(std::size_t bytes) {
    const HostBlock block = memory.allocate_to_overwrite(bytes);
    std::fill(block.bytes().begin(), block.bytes().end(), std::byte{0xA5});
  }
};

bool all_zero(const HostBlock& block) {
  return std::all_of(block.bytes().begin(), block.bytes().end(),
                     [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

TEST_CASE("block sizes: powers of two of pages up to 64 KiB, then whole pages; never less than asked") {
  CHECK(IdleBlocks::block_size(1) == 4096);
  CHECK(IdleBlocks::block_size(4096) == 4096);
  CHECK(IdleBlocks::block_size(4097) == 8192);
  CHECK(IdleBlocks::block_size(33 << 10) == 64 << 10);
  CHECK(IdleBlocks::block_size((64 << 10) + 1) == 68 << 10);
  CHECK(IdleBlocks::block_size(640'000'000) == 640'000'000);
  CHECK(IdleBlocks::block_size(640'000'001) == 640'004'096);
}

TEST_CASE("results of one size take the system's memory once, and used and kept tell them apart") {
  Bench bench;
  for (int i = 0; i < 50; ++i) {
    const HostBlock large = bench.memory.allocate_to_overwrite(10 * mib - 5);
    const HostBlock counts = bench.memory.allocate_to_overwrite(4000);
    const HostBlock flow = bench.memory.allocate_to_overwrite(16);
    CHECK(large.size() == 10 * mib - 5);
    CHECK(bench.memory.used() == 10 * mib - 5 + 4000 + 16);
    CHECK(bench.memory.kept() == 0);
  }
  CHECK(bench.system.allocations == 3);
  CHECK(bench.memory.used() == 0);
  CHECK(bench.memory.kept() == 10 * mib + 2 * 4096);
  CHECK(bench.system.held() == bench.memory.kept());
}

TEST_CASE("a block that was used before is zeroed for who relies on it") {
  Bench bench;
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{5000}, 2 * mib}) {
    CAPTURE(bytes);
    bench.dirty(bytes);
    const std::size_t allocations = bench.system.allocations;
    CHECK(all_zero(bench.memory.allocate(bytes, Paging::on_demand)));
    CHECK(bench.system.allocations == allocations);
  }
}

TEST_CASE("what is kept makes room for what is needed, the oldest first") {
  Bench bench;
  bench.dirty(40 * mib);
  bench.dirty(30 * mib);
  CHECK(bench.memory.kept() == 70 * mib);
  {
    const HostBlock needed = bench.memory.allocate_to_overwrite(50 * mib);
    CHECK(bench.memory.kept() == 30 * mib);
    CHECK(bench.system.held() == 80 * mib);
    CHECK_THROWS_AS(bench.memory.allocate_to_overwrite(50 * mib + 1), SnapshotMemoryFull);
    CHECK_THROWS_AS(bench.memory.allocate(200 * mib, Paging::populate), SnapshotMemoryFull);
    CHECK(bench.memory.kept() == 30 * mib);  // what cannot be helped by it costs nothing
    const HostBlock rest = bench.memory.allocate_to_overwrite(50 * mib);
    CHECK(bench.memory.kept() == 0);
    CHECK(bench.memory.used() == 100 * mib);
  }
  CHECK(bench.memory.used() == 0);
  CHECK(bench.memory.kept() == 100 * mib);
}

TEST_CASE("a block that would exceed the bound beside what is in use is not kept") {
  CountingMemory system;
  ManualClock clock;
  SnapshotMemory memory(system, 4000, clock);  // less than the block that serves it
  { const HostBlock small = memory.allocate(3000, Paging::populate); }
  CHECK(memory.kept() == 0);
  CHECK(system.held() == 0);
}

TEST_CASE("where the system has no more, what is kept is given back before it is an error") {
  Bench bench;
  bench.system.room = 50 * mib;
  bench.dirty(30 * mib);
  { const HostBlock needed = bench.memory.allocate_to_overwrite(40 * mib); }
  CHECK(bench.system.held() == 40 * mib);
  CHECK_THROWS_AS(bench.memory.allocate_to_overwrite(60 * mib), std::bad_alloc);
  CHECK(bench.memory.used() == 0);
  CHECK(bench.memory.kept() == 0);
}

TEST_CASE("what nobody asks for goes back to the system, but for some small blocks") {
  Bench bench;
  bench.dirty(10 * mib);
  {
    std::vector<HostBlock> small;
    for (int i = 0; i < 40; ++i) small.push_back(bench.memory.allocate_to_overwrite(64 << 10));
  }
  bench.clock.advance(SnapshotMemory::kept_for);
  bench.dirty(20 * mib);
  bench.memory.expire();
  CHECK(bench.memory.kept() == 30 * mib + 40 * (64 << 10));
  bench.clock.advance(std::chrono::nanoseconds(1));
  bench.memory.expire();
  CHECK(bench.memory.kept() == 20 * mib + IdleBlocks::small_that_stay);
  CHECK(bench.system.held() == bench.memory.kept());
  bench.clock.advance(2 * SnapshotMemory::kept_for);
  bench.memory.expire();
  CHECK(bench.memory.kept() == IdleBlocks::small_that_stay);
}

TEST_CASE("blocks come and go on several threads and nothing is lost") {
  CountingMemory system;
  ManualClock clock;
  SnapshotMemory memory(system, mib, clock);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 300; ++i) {
        try {
          const HostBlock block = memory.allocate_to_overwrite((t + 1) * 50'000 + i % 7 * 4096);
          block.data()[0] = static_cast<std::byte>(t);  // a race if two had it
        } catch (const SnapshotMemoryFull&) {
        }
        if (i % 50 == 0) memory.expire();
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(memory.used() == 0);
  CHECK(system.held() == memory.kept());
}
