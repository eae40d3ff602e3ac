#include "service/config/memory_plan.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "core/ring/record.hpp"
#include "tests/service/config/load_for_test.hpp"

namespace pixhist {
namespace {

using test::load_set;
using test::two_modules;

std::uint64_t bytes_of(const std::vector<MemoryItem>& items, const std::string& name, MemoryKind kind) {
  std::uint64_t bytes = 0;
  int found = 0;
  for (const auto& item : items) {
    if (item.name != name || item.kind != kind) continue;
    bytes = item.bytes;
    ++found;
  }
  return found == 1 ? bytes : 0;
}

TEST_CASE("memory_plan: one source on the CPU") {
  const auto loaded = load_set({});
  const MemoryPlan plan = plan_memory(*loaded.config, false);
  CHECK(bytes_of(plan.at_start, "ring of module0", MemoryKind::host) == 1ULL << 30);
  CHECK(bytes_of(plan.at_start, "ring descriptors", MemoryKind::host) == 2048 * sizeof(Record));
  CHECK(bytes_of(plan.at_start, "counts of module0", MemoryKind::host) == 512ULL * 1024 * 1028 * 4);
  CHECK(plan.total(MemoryKind::pinned) == 0);
  CHECK(plan.total(MemoryKind::device) == 0);
  CHECK(plan.total() == (1ULL << 30) + 2048 * sizeof(Record) + 512ULL * 1024 * 1028 * 4);
  CHECK(bytes_of(plan.up_to, "snapshots and replies (snapshot.max_bytes)", MemoryKind::host) == 4ULL << 30);
  CHECK(bytes_of(plan.up_to, "receive queues of ZeroMQ (ring.rcvhwm_bytes per socket)", MemoryKind::host) ==
        256ULL << 20);
}

TEST_CASE("memory_plan: with CUDA the ring is pinned, counts and batch slots are the device's") {
  const auto loaded = load_set({});
  const MemoryPlan plan = plan_memory(*loaded.config, true);
  CHECK(plan.total(MemoryKind::pinned) == 1ULL << 30);
  CHECK(bytes_of(plan.at_start, "counts of module0", MemoryKind::device) == 512ULL * 1024 * 1028 * 4);
  CHECK(bytes_of(plan.at_start, "batch slots", MemoryKind::device) == 2 * (64ULL << 20));
  CHECK(plan.total(MemoryKind::host) == 2048 * sizeof(Record));
  // Few frames, or a small ring, make the slots smaller; one frame always fits.
  const auto slot = [](std::vector<std::string> set) {
    return bytes_of(plan_memory(*load_set(std::move(set)).config, true).at_start, "batch slots",
                    MemoryKind::device) /
           2;
  };
  CHECK(slot({"batch.frames=3"}) == 3ULL << 20);
  CHECK(slot({"ring.bytes=8MiB"}) == 2ULL << 20);
  CHECK(slot({"batch.bytes=4KiB"}) == 1ULL << 20);
}

TEST_CASE("memory_plan: ring shares follow frame size, in whole pages") {
  // Frames of 3 : 1, the second source with two sockets: 3/5, 1/5, 1/5.
  const auto loaded = load_set({"detector.rows=1024", "sources.0.shape=[768,1024]", "sources.0.origin=[0,0]",
                                "sources.1.shape=[256,1024]", "sources.1.origin=[768,0]",
                                R"(sources.1.endpoints=["tcp://h:1","tcp://h:2"])", "ring.bytes=1000000000"});
  REQUIRE_MESSAGE(loaded.config, loaded.error_text());
  const auto shares = ring_shares(*loaded.config);
  REQUIRE(shares.size() == 3);
  CHECK(shares[0] == 599998464);  // 600 000 000 less what is no whole page
  CHECK(shares[1] == 199999488);
  CHECK(shares[2] == shares[1]);
  for (const auto share : shares) CHECK(share % ring_page == 0);
  CHECK(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}) <= 1000000000);
  const MemoryPlan plan = plan_memory(*loaded.config, false);
  CHECK(bytes_of(plan.at_start, "ring of module1 socket 1", MemoryKind::host) == shares[2]);
}

TEST_CASE("memory_plan: odd frames, tiny frames and the least ring") {
  const auto odd = load_set(
      {"detector.rows=37", "detector.cols=53", "detector.pixel_type=u8", "axis.max=256", "axis.bins=256"});
  REQUIRE_MESSAGE(odd.config, odd.error_text());
  CHECK(record_bytes(*odd.config, 0) == 1968);  // 1961 rounded up to 16
  CHECK(least_ring_bytes(*odd.config) == 8192);
  CHECK(ring_records(ring_shares(*odd.config)[0], 1968) == 1 << 20);
  const auto least = load_set(two_modules({"ring.bytes=8388608"}));
  REQUIRE_MESSAGE(least.config, least.error_text());
  for (const auto share : ring_shares(*least.config)) CHECK(share >= 4 * record_bytes(*least.config, 0));
  CHECK(ring_records(4ULL << 20, 1ULL << 20) == 1024);
  CHECK(ring_records(4096ULL << 20, 1ULL << 20) == 8192);
  CHECK(ring_records(1ULL << 40, 1ULL << 32) == 1024);
}

TEST_CASE("memory_plan: the largest ring and frame do not overflow") {
  const auto large =
      load_set({"detector.rows=65535", "detector.cols=32767", "axis.bins=1", "ring.bytes=1024GiB"});
  REQUIRE_MESSAGE(large.config, large.error_text());
  CHECK(ring_shares(*large.config)[0] == 1ULL << 40);
}

TEST_CASE("memory_plan: per_run holds two cuts from the start, within snapshot.max_bytes") {
  const auto loaded = load_set({"runs.policy=per_run", "snapshot.max_bytes=8GiB"});
  REQUIRE_MESSAGE(loaded.config, loaded.error_text());
  const std::uint64_t cut = 512ULL * 1024 * 1028 * 4;
  CHECK(closed_run_bytes(*loaded.config) == cut);
  const MemoryPlan cpu = plan_memory(*loaded.config, false);
  const std::string name = "last closed run and the next (within snapshot.max_bytes)";
  CHECK(bytes_of(cpu.at_start, name, MemoryKind::host) == 2 * cut);
  CHECK(bytes_of(cpu.up_to, "snapshots and replies (snapshot.max_bytes)", MemoryKind::host) ==
        (8ULL << 30) - 2 * cut);
  const MemoryPlan cuda = plan_memory(*loaded.config, true);
  CHECK(bytes_of(cuda.at_start, name, MemoryKind::pinned) == 2 * cut);
  CHECK(bytes_of(cuda.at_start, "read of a closing run", MemoryKind::device) == cut);
}

TEST_CASE("memory_plan: bytes for people") {
  CHECK(human_bytes(0) == "0 bytes");
  CHECK(human_bytes(1023) == "1023 bytes");
  CHECK(human_bytes(1536) == "1.5 KiB");
  CHECK(human_bytes(1ULL << 30) == "1.0 GiB");
}

}  // namespace
}  // namespace pixhist
