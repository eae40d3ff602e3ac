// Random streams against a model that marks every single byte of the ring as free or held.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "core/ring/byte_ring.hpp"

using namespace pixhist;

namespace {

struct ModelRecord {
  std::uint64_t number = 0;
  std::size_t payload = 0;
  std::size_t table = 0;
  std::size_t offset = 0;
  std::vector<std::size_t> held;  // its bytes and the padding before it
  bool mark = false;
};

std::size_t up16(std::size_t n) { return n % 16 == 0 ? n : n + 16 - n % 16; }

struct Model {
  std::vector<char> byte_held;
  std::size_t max_records;
  std::size_t cursor = 0;
  std::size_t taken = 0;  // of `live`, from the front
  std::deque<ModelRecord> live;
  std::size_t high_water = 0;

  Model(std::size_t capacity, std::size_t records) : byte_held(capacity, 0), max_records(records) {}

  std::size_t used() const {
    return static_cast<std::size_t>(std::count(byte_held.begin(), byte_held.end(), char{1}));
  }

  /// The record as it must come out, or nothing if there is no space.
  std::optional<ModelRecord> place(std::uint64_t number, std::size_t payload, std::size_t table) const {
    if (live.size() == max_records) return std::nullopt;
    ModelRecord record{number, payload, table, cursor, {}, false};
    const std::size_t size = up16(payload) + up16(table);
    if (size > byte_held.size()) return std::nullopt;
    if (cursor + size > byte_held.size()) {
      record.offset = 0;
      if (used() > 0)
        for (std::size_t i = cursor; i < byte_held.size(); ++i) record.held.push_back(i);
    }
    for (std::size_t i = 0; i < size; ++i) record.held.push_back(record.offset + i);
    for (const std::size_t i : record.held)
      if (byte_held[i]) return std::nullopt;
    return record;
  }

  void commit(const ModelRecord& record) {
    for (const std::size_t i : record.held) byte_held[i] = 1;
    if (!record.mark) cursor = record.offset + up16(record.payload) + up16(record.table);
    live.push_back(record);
    high_water = std::max(high_water, used());
  }

  void release(std::size_t n) {
    for (; n > 0; --n, --taken) {
      for (const std::size_t i : live.front().held) byte_held[i] = 0;
      live.pop_front();
    }
  }
};

std::byte content(std::uint64_t number, std::size_t i) { return static_cast<std::byte>(number * 31 + i * 7); }

void check_content(const ByteRing& ring, const Record& record, const ModelRecord& model) {
  REQUIRE(record.info.number == model.number);
  REQUIRE((record.info.kind == RecordKind::run_start) == model.mark);
  REQUIRE(record.payload_bytes == model.payload);
  REQUIRE(record.table_bytes == model.table);
  if (model.mark) return;
  REQUIRE(record.offset == model.offset);
  bool right = true;
  for (std::size_t i = 0; i < model.payload; ++i)
    right = right && ring.payload(record)[i] == content(model.number, i);
  for (std::size_t i = 0; i < model.table; ++i)
    right = right && ring.table(record)[i] == content(model.number, model.payload + i);
  REQUIRE(right);
}

struct Run {
  MemoryAccount account;
  PageableMemory memory{account};
  ByteRing ring;
  Model model;
  std::mt19937 random;
  std::uint64_t number = 0;
  int claims = 0, refusals = 0, aborts = 0, wraps = 0;

  Run(std::size_t capacity, std::size_t records, unsigned seed)
      : ring(memory.allocate(capacity, Paging::on_demand), records), model(capacity, records), random(seed) {}

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }

  void claim() {
    const std::size_t capacity = model.byte_held.size();
    const std::size_t payload = below(below(4) == 0 ? capacity + 20 : capacity / 3 + 1);
    const std::size_t table = below(3) == 0 ? below(20) : 0;
    const auto expected = model.place(number, payload, table);
    auto writer = ring.try_claim(payload, table);
    REQUIRE(writer.has_value() == expected.has_value());
    ++(writer ? claims : refusals);
    if (!writer) return;
    REQUIRE(static_cast<std::size_t>(writer->payload().data() - ring.memory().data()) == expected->offset);
    for (std::size_t i = 0; i < payload; ++i) writer->payload()[i] = content(number, i);
    for (std::size_t i = 0; i < table; ++i) writer->table()[i] = content(number, payload + i);
    if (below(8) == 0) {
      ++aborts;
      return;
    }
    RecordInfo info;
    info.number = number;
    writer->commit(info);
    wraps += expected->offset < model.cursor;
    model.commit(*expected);
    ++number;
  }

  void mark() {
    RecordInfo info;
    info.kind = RecordKind::run_start;
    info.number = number;
    const bool fits = model.live.size() < model.max_records;
    REQUIRE(ring.try_mark(info) == fits);
    if (!fits) return;
    model.commit({number, 0, 0, 0, {}, true});
    ++number;
  }

  void take() {
    const std::size_t available = model.live.size() - model.taken;
    REQUIRE(ring.available() == available);
    for (std::size_t i = 0; i < available; ++i)
      check_content(ring, ring.peek(i), model.live[model.taken + i]);
    const std::size_t n = below(available + 1);
    ring.take(n);
    model.taken += n;
  }

  void release() {
    const std::size_t n = below(model.taken + 1);
    ring.release(n);
    model.release(n);
  }

  void step() {
    switch (below(8)) {
      case 0: mark(); break;
      case 1:
      case 2: take(); break;
      case 3:
      case 4: release(); break;
      default: claim();
    }
    REQUIRE(ring.used_bytes() == model.used());
    REQUIRE(ring.high_water_bytes() == model.high_water);
    REQUIRE(ring.committed() == number);
  }
};

}  // namespace

TEST_CASE("random claims, aborts, marks, takes and releases agree with a byte-by-byte model") {
  int claims = 0, refusals = 0, aborts = 0, wraps = 0;
  for (const std::size_t capacity : {16u, 64u, 100u, 255u, 512u, 1000u})
    for (const std::size_t records : {1u, 3u, 40u}) {
      CAPTURE(capacity);
      CAPTURE(records);
      Run run(capacity, records, static_cast<unsigned>(capacity * 100 + records));
      for (int i = 0; i < 4000; ++i) run.step();
      claims += run.claims;
      refusals += run.refusals;
      aborts += run.aborts;
      wraps += run.wraps;
    }
  // The streams must have met what they are there for.
  CHECK(claims > 5000);
  CHECK(refusals > 5000);
  CHECK(aborts > 500);
  CHECK(wraps > 500);
}
