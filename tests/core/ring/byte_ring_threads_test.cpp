// One producer, one consumer, one onlooker. Meant for ThreadSanitizer, and checks every byte without it, too.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>

#include "core/ring/byte_ring.hpp"

using namespace pixhist;

namespace {

constexpr std::uint64_t record_count = 60000;
constexpr std::size_t max_payload = 700;

// Sizes and contents follow from the record's number, so the consumer knows what must come.
std::size_t payload_of(std::uint64_t number) { return (number * 2654435761U) % max_payload; }
std::size_t table_of(std::uint64_t number) { return number % 5 == 0 ? number % 40 : 0; }
bool is_mark(std::uint64_t number) { return number % 97 == 0; }
std::byte fill_of(std::uint64_t number) { return static_cast<std::byte>(number ^ (number >> 8)); }

bool all_equal(std::span<const std::byte> bytes, std::byte value) {
  for (const std::byte b : bytes)
    if (b != value) return false;
  return true;
}

/// Claims space, writes garbage into it and lets it go, as a decode that fails does.
void abort_one(ByteRing& ring, std::uint64_t number) {
  auto writer = ring.try_claim(payload_of(number) + 16, table_of(number));
  if (writer) std::memset(writer->payload().data(), 0x5A, writer->payload().size());
}

bool produce(ByteRing& ring, std::uint64_t number) {
  RecordInfo info;
  info.number = number;
  if (is_mark(number)) {
    info.kind = RecordKind::run_end;
    return ring.try_mark(info);
  }
  if (number % 11 == 0) abort_one(ring, number);
  auto writer = ring.try_claim(payload_of(number), table_of(number));
  if (!writer) return false;
  std::fill(writer->payload().begin(), writer->payload().end(), fill_of(number));
  std::fill(writer->table().begin(), writer->table().end(), ~fill_of(number));
  writer->commit(info);
  return true;
}

bool right(const ByteRing& ring, const Record& record, std::uint64_t number) {
  if (record.info.number != number) return false;
  if (is_mark(number)) return record.info.kind == RecordKind::run_end && record.payload_bytes == 0;
  return record.payload_bytes == payload_of(number) && record.table_bytes == table_of(number) &&
         all_equal(ring.payload(record), fill_of(number)) && all_equal(ring.table(record), ~fill_of(number));
}

}  // namespace

TEST_CASE("two threads pass records through the ring unharmed and in order") {
  MemoryAccount account;
  PageableMemory memory(account);
  ByteRing ring(memory.allocate(4000, Paging::on_demand), 24);
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> bad_looks{0};
  std::uint64_t wrong = 0;

  std::thread producer([&] {
    for (std::uint64_t number = 0; number < record_count;)
      if (produce(ring, number))
        ++number;
      else
        std::this_thread::yield();
  });
  std::thread consumer([&] {
    std::deque<const Record*> held;
    std::uint64_t oldest = 0;
    while (oldest < record_count) {
      const std::size_t available = ring.available();
      for (std::size_t i = 0; i < available; ++i) held.push_back(&ring.peek(i));
      ring.take(available);
      // Holds some back as a pipeline does, but lets go of all when nothing else comes.
      const std::size_t let_go = available == 0 ? held.size() : held.size() / 2;
      for (std::size_t i = 0; i < let_go; ++i, held.pop_front())
        wrong += !right(ring, *held.front(), oldest++);
      ring.release(let_go);
      if (available == 0) std::this_thread::yield();
    }
  });
  std::thread onlooker([&] {
    std::uint64_t high = 0;
    std::uint64_t committed = 0;
    while (!done) {
      const std::uint64_t taken = ring.taken();
      const std::uint64_t now = ring.committed();
      const std::uint64_t high_now = ring.high_water_bytes();
      if (taken > now || now < committed || high_now < high || ring.used_bytes() > ring.capacity())
        ++bad_looks;
      committed = now;
      high = high_now;
      std::this_thread::yield();
    }
  });
  producer.join();
  consumer.join();
  done = true;
  onlooker.join();

  CHECK(wrong == 0);
  CHECK(bad_looks == 0);
  CHECK(ring.committed() == record_count);
  CHECK(ring.taken() == record_count);
  CHECK(ring.used_bytes() == 0);
  CHECK(ring.high_water_bytes() > max_payload);
  CHECK(ring.high_water_bytes() <= ring.capacity());
}
