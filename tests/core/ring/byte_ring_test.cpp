#include "core/ring/byte_ring.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>

using namespace pixhist;

namespace {

struct RingOf {
  MemoryAccount account;
  PageableMemory memory{account};
  ByteRing ring;
  explicit RingOf(std::size_t bytes, std::size_t records = 64)
      : ring(memory.allocate(bytes, Paging::on_demand), records) {}
};

/// Addresses without memory behind them, for rings larger than the machine.
class AddressSpace final : public HostMemory {
 public:
  HostBlock allocate(std::size_t bytes, Paging) override {
    void* const p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(p != MAP_FAILED);
    return {*this, {static_cast<std::byte*>(p), bytes}};
  }
  MemoryKind kind() const override { return MemoryKind::host; }

 private:
  void release(std::span<std::byte> bytes) noexcept override { munmap(bytes.data(), bytes.size()); }
};

RecordInfo numbered(std::uint64_t number) {
  RecordInfo info;
  info.has_number = true;
  info.number = number;
  return info;
}

bool put(ByteRing& ring, std::uint64_t number, std::size_t payload, std::size_t table = 0) {
  auto writer = ring.try_claim(payload, table);
  if (!writer) return false;
  std::fill(writer->payload().begin(), writer->payload().end(), static_cast<std::byte>(number));
  std::fill(writer->table().begin(), writer->table().end(), static_cast<std::byte>(~number));
  writer->commit(numbered(number));
  return true;
}

void drop_oldest(ByteRing& ring, std::size_t n = 1) {
  ring.take(n);
  ring.release(n);
}

}  // namespace

TEST_CASE("a ring without memory or descriptors is refused") {
  MemoryAccount account;
  PageableMemory memory(account);
  CHECK_THROWS_AS(ByteRing(HostBlock{}, 4), std::invalid_argument);
  CHECK_THROWS_AS(ByteRing(memory.allocate(64, Paging::on_demand), 0), std::invalid_argument);
}

TEST_CASE("a record takes its payload and its block table, each rounded up to 16 bytes") {
  CHECK(ByteRing::record_bytes(0, 0) == 0);
  CHECK(ByteRing::record_bytes(1, 0) == 16);
  CHECK(ByteRing::record_bytes(16, 0) == 16);
  CHECK(ByteRing::record_bytes(17, 1) == 48);
  CHECK(ByteRing::record_bytes(ByteRing::max_part_bytes, ByteRing::max_part_bytes) == 0x200000000ULL);
}

TEST_CASE("what is written and committed is what the consumer peeks and takes") {
  RingOf r(256);
  auto writer = r.ring.try_claim(20, 5);
  REQUIRE(writer);
  CHECK(writer->payload().size() == 20);
  CHECK(writer->table().size() == 5);
  CHECK(writer->table().data() - writer->payload().data() == 32);
  std::fill(writer->payload().begin(), writer->payload().end(), std::byte{7});
  std::fill(writer->table().begin(), writer->table().end(), std::byte{9});
  CHECK(r.ring.available() == 0);
  CHECK(r.ring.used_bytes() == 0);
  RecordInfo info = numbered(42);
  info.tag = 3;
  info.run = make_run_key("a");
  writer->commit(info);

  REQUIRE(r.ring.available() == 1);
  CHECK(r.ring.committed() == 1);
  CHECK(r.ring.used_bytes() == 48);
  const Record& record = r.ring.peek();
  CHECK(record.info.number == 42);
  CHECK(record.info.tag == 3);
  CHECK(record.info.run == make_run_key("a"));
  CHECK(record.offset == 0);
  CHECK(record.payload_bytes == 20);
  CHECK(record.table_bytes == 5);
  const auto is = [](int value) {
    return [value](std::byte b) { return b == static_cast<std::byte>(value); };
  };
  const auto payload = r.ring.payload(record);
  const auto table = r.ring.table(record);
  REQUIRE(payload.size() == 20);
  REQUIRE(table.size() == 5);
  CHECK(std::all_of(payload.begin(), payload.end(), is(7)));
  CHECK(std::all_of(table.begin(), table.end(), is(9)));

  r.ring.take();
  CHECK(r.ring.available() == 0);
  CHECK(r.ring.taken() == 1);
  CHECK(r.ring.used_bytes() == 48);
  r.ring.release(1);
  CHECK(r.ring.used_bytes() == 0);
  CHECK(r.ring.high_water_bytes() == 48);
}

TEST_CASE("a writer that is dropped leaves nothing behind") {
  RingOf r(64);
  {
    auto writer = r.ring.try_claim(64);
    REQUIRE(writer);
    const RecordWriter moved = std::move(*writer);
    CHECK(moved.payload().size() == 64);
    CHECK(writer->payload().empty());
    CHECK_THROWS_AS(writer->commit({}), std::logic_error);
  }
  CHECK(r.ring.available() == 0);
  CHECK(r.ring.committed() == 0);
  CHECK(r.ring.used_bytes() == 0);
  CHECK(put(r.ring, 1, 64));
  CHECK(r.ring.peek().offset == 0);
}

TEST_CASE("a dropped writer behind the wrap leaves the wrap undone") {
  RingOf r(96);
  REQUIRE(put(r.ring, 1, 32));
  REQUIRE(put(r.ring, 2, 32));
  drop_oldest(r.ring);
  { CHECK(r.ring.try_claim(32)->payload().data() == r.ring.memory().data() + 64); }
  drop_oldest(r.ring);
  REQUIRE(put(r.ring, 3, 16));
  { CHECK(r.ring.try_claim(48)->payload().data() == r.ring.memory().data()); }
  REQUIRE(put(r.ring, 4, 16));
  CHECK(r.ring.peek(1).offset == 80);
}

TEST_CASE("a writer commits once") {
  RingOf r(64);
  auto writer = r.ring.try_claim(16);
  REQUIRE(writer);
  writer->commit({});
  CHECK_THROWS_AS(writer->commit({}), std::logic_error);
  CHECK(r.ring.committed() == 1);
}

TEST_CASE("records fill the ring to the last byte and the next goes to its start") {
  RingOf r(64);
  REQUIRE(put(r.ring, 1, 32));
  REQUIRE(put(r.ring, 2, 32));
  CHECK(r.ring.used_bytes() == 64);
  CHECK(r.ring.high_water_bytes() == 64);
  CHECK_FALSE(put(r.ring, 3, 1));
  r.ring.take();
  CHECK_FALSE(put(r.ring, 3, 1));
  r.ring.release(1);
  REQUIRE(put(r.ring, 3, 32));
  CHECK(r.ring.peek(1).offset == 0);
  CHECK_FALSE(put(r.ring, 4, 1));
}

TEST_CASE("a record that does not fit before the end goes to the start; its padding is freed with it") {
  RingOf r(100);
  REQUIRE(put(r.ring, 1, 48));
  REQUIRE(put(r.ring, 2, 32));
  CHECK_FALSE(put(r.ring, 3, 32));
  drop_oldest(r.ring);
  REQUIRE(put(r.ring, 3, 32));
  CHECK(r.ring.used_bytes() == 32 + 20 + 32);
  CHECK(r.ring.peek(1).offset == 0);
  REQUIRE(put(r.ring, 4, 16));
  CHECK_FALSE(put(r.ring, 5, 1));
  drop_oldest(r.ring);
  CHECK(r.ring.used_bytes() == 20 + 48);
  drop_oldest(r.ring);
  CHECK(r.ring.used_bytes() == 16);
  CHECK(r.ring.high_water_bytes() == 100);
}

TEST_CASE("an empty ring holds any record up to its capacity, wherever the last one ended") {
  for (std::size_t last_end = 0; last_end <= 96; last_end += 16) {
    CAPTURE(last_end);
    RingOf r(100);
    if (last_end > 0) {
      REQUIRE(put(r.ring, 1, last_end));
      drop_oldest(r.ring);
    }
    CHECK(r.ring.can_hold(96));
    REQUIRE(put(r.ring, 2, 96));
    CHECK(r.ring.peek().offset == 0);
    CHECK(r.ring.used_bytes() == 96);
    CHECK_FALSE(put(r.ring, 3, 1));
    drop_oldest(r.ring);
    CHECK(r.ring.used_bytes() == 0);
    CHECK(put(r.ring, 4, 80, 16));
  }
}

TEST_CASE("a mark that is still held does not keep the bytes of an otherwise empty ring") {
  RingOf r(64);
  REQUIRE(put(r.ring, 1, 32));
  REQUIRE(r.ring.try_mark({}));
  drop_oldest(r.ring);
  REQUIRE(put(r.ring, 2, 64));
  CHECK(r.ring.peek(1).offset == 0);
  drop_oldest(r.ring);
  CHECK(r.ring.used_bytes() == 64);
  drop_oldest(r.ring);
  CHECK(r.ring.used_bytes() == 0);
}

TEST_CASE("a record larger than the ring is never claimed") {
  RingOf r(100);
  CHECK(r.ring.can_hold(96));
  CHECK_FALSE(r.ring.can_hold(97));
  CHECK_FALSE(r.ring.can_hold(80, 17));
  CHECK_FALSE(r.ring.can_hold(SIZE_MAX));
  CHECK_FALSE(r.ring.can_hold(16, SIZE_MAX - 3));
  CHECK_FALSE(r.ring.try_claim(97));
  CHECK_FALSE(r.ring.try_claim(SIZE_MAX));
  CHECK_FALSE(r.ring.try_claim(0, SIZE_MAX));
  CHECK(r.ring.try_claim(96));
}

TEST_CASE("a part beyond 32 bits of size is never claimed, however large the ring") {
  AddressSpace memory;
  ByteRing ring(memory.allocate(std::size_t{5} << 30, Paging::on_demand), 4);
  CHECK(ring.can_hold(ByteRing::max_part_bytes));
  CHECK_FALSE(ring.can_hold(ByteRing::max_part_bytes + 1));
  CHECK_FALSE(ring.try_claim(ByteRing::max_part_bytes + 1));
  auto writer = ring.try_claim(ByteRing::max_part_bytes);
  REQUIRE(writer);
  writer->commit({});
  CHECK(ring.payload(ring.peek()).size() == ByteRing::max_part_bytes);
  CHECK(ring.used_bytes() == std::uint64_t{1} << 32);
}

TEST_CASE("marks keep their place, take a descriptor and no bytes") {
  RingOf r(64, 3);
  REQUIRE(put(r.ring, 1, 16));
  RecordInfo mark;
  mark.kind = RecordKind::run_end;
  mark.has_expected = true;
  mark.expected = 17;
  REQUIRE(r.ring.try_mark(mark));
  CHECK(r.ring.used_bytes() == 16);
  REQUIRE(put(r.ring, 2, 16));
  CHECK_FALSE(r.ring.try_mark(mark));
  CHECK_FALSE(put(r.ring, 3, 16));

  CHECK(r.ring.peek(0).info.kind == RecordKind::frame);
  CHECK(r.ring.peek(1).info.kind == RecordKind::run_end);
  CHECK(r.ring.peek(1).info.expected == 17);
  CHECK(r.ring.payload(r.ring.peek(1)).empty());
  CHECK(r.ring.peek(2).offset == 16);
  r.ring.take(3);
  CHECK_FALSE(put(r.ring, 3, 16));
  r.ring.release(2);
  CHECK(r.ring.used_bytes() == 16);
  CHECK(put(r.ring, 3, 16));
  CHECK(r.ring.try_mark(mark));
  CHECK_FALSE(r.ring.try_mark(mark));
}

TEST_CASE("taking what is not there and releasing what is not taken are programming errors") {
  RingOf r(64);
  REQUIRE(put(r.ring, 1, 16));
  CHECK_THROWS_AS(r.ring.take(2), std::logic_error);
  CHECK_THROWS_AS(r.ring.release(1), std::logic_error);
  r.ring.release(0);
  r.ring.take();
  CHECK_THROWS_AS(r.ring.release(2), std::logic_error);
  r.ring.release(1);
  CHECK_THROWS_AS(r.ring.release(1), std::logic_error);
}

TEST_CASE("high water is the most that was held at once, not the sum") {
  RingOf r(1024);
  for (std::uint64_t i = 0; i < 200; ++i) {
    REQUIRE(put(r.ring, i, 100));
    if (i >= 2) drop_oldest(r.ring);
  }
  // Three records of 112 bytes; 16 bytes of padding each time round (9 records fill 1008 of 1024).
  CHECK(r.ring.high_water_bytes() == 3 * 112 + 16);
}
