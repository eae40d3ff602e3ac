#include "core/batch/batcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

using namespace pixhist;
using namespace std::chrono_literals;

namespace {

struct Stream {
  MemoryAccount account;
  PageableMemory memory{account};
  ByteRing ring;
  explicit Stream(std::size_t bytes) : ring(memory.allocate(bytes, Paging::on_demand), 64) {}

  /// Puts a frame into the ring and takes it.
  Record frame(std::size_t payload, std::chrono::nanoseconds received = 0ns, std::size_t table = 0,
               std::byte fill = std::byte{0}, std::uint16_t tag = 0) {
    auto writer = ring.try_claim(payload, table);
    REQUIRE(writer);
    std::fill(writer->payload().begin(), writer->payload().end(), fill);
    RecordInfo info;
    info.received = received;
    info.tag = tag;
    info.flags = tag % 2 == 0 ? frame_flags::complete : 0;
    writer->commit(info);
    const Record record = ring.peek();
    ring.take();
    return record;
  }
};

constexpr BatchLimits no_limits{1000, std::numeric_limits<std::uint64_t>::max(),
                                std::chrono::nanoseconds::max()};

}  // namespace

TEST_CASE("a batch is the byte range of its records and a table of its frames") {
  Stream s(4096);
  s.frame(64);
  Batcher batcher(3, 2, s.ring, no_limits);
  CHECK(batcher.empty());
  batcher.add(s.frame(20, 5ns, 0, std::byte{1}, 10), true);
  CHECK_FALSE(batcher.empty());
  batcher.add(s.frame(30, 6ns, 8, std::byte{2}, 11), true);
  batcher.add(s.frame(40, 7ns, 0, std::byte{3}, 12), true);
  const Batch batch = batcher.close();
  CHECK(batcher.empty());

  CHECK(batch.source == 3);
  CHECK(batch.ring == 2);
  CHECK(batch.records == 3);
  CHECK(batch.oldest == 5ns);
  CHECK(batch.newest == 7ns);
  CHECK(batch.bytes.data() == s.ring.memory().data() + 64);
  CHECK(batch.bytes.size() == 32 + (32 + 16) + 48);
  REQUIRE(batch.frames.size() == 3);
  CHECK(batch.frames[0].offset == 0);
  CHECK(batch.frames[1].offset == 32);
  CHECK(batch.frames[2].offset == 80);
  const std::uint32_t sizes[] = {20, 30, 40};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(batch.frames[i].bytes == sizes[i]);
    CHECK(batch.frames[i].tag == 10 + i);
    CHECK(batch.frames[i].flags == (i == 1 ? 0 : frame_flags::complete));
    CHECK(batch.bytes[batch.frames[i].offset] == static_cast<std::byte>(i + 1));
    CHECK(batch.bytes[batch.frames[i].offset + batch.frames[i].bytes - 1] == static_cast<std::byte>(i + 1));
  }
  CHECK(batch.good_frames() == 3);
}

TEST_CASE("discarded frames are masked at head, middle and tail, and released with the batch") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, no_limits);
  for (const bool ok : {false, true, false, true, false}) batcher.add(s.frame(16), ok);
  const Batch batch = batcher.close();
  CHECK(batch.records == 5);
  CHECK(batch.bytes.size() == 80);
  CHECK(batch.frame_ok == std::vector<std::uint8_t>{0, 1, 0, 1, 0});
  CHECK(batch.good_frames() == 2);
  s.ring.release(batch.records);
  CHECK(s.ring.used_bytes() == 0);
}

TEST_CASE("a batch ends at its number of frames") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, {2, 4096, 1s});
  batcher.add(s.frame(16), true);
  CHECK_FALSE(batcher.due(0ns));
  const Record second = s.frame(16);
  CHECK(batcher.accepts(second));
  batcher.add(second, false);
  CHECK(batcher.due(0ns));
  const Record third = s.frame(16);
  CHECK_FALSE(batcher.accepts(third));
  CHECK_THROWS_AS(batcher.add(third, true), std::logic_error);
  CHECK(batcher.close().records == 2);
  CHECK(batcher.accepts(third));
  batcher.add(third, true);
  const Batch batch = batcher.close();
  CHECK(batch.frames[0].offset == 0);
  CHECK(batch.bytes.data() == s.ring.memory().data() + 32);
}

TEST_CASE("a batch ends at its number of bytes, block tables and rounding included") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, {100, 96, 1s});
  batcher.add(s.frame(20, 0ns, 3), true);
  CHECK_FALSE(batcher.due(0ns));
  const Record fits = s.frame(33);
  CHECK(batcher.accepts(fits));
  batcher.add(fits, true);
  CHECK(batcher.due(0ns));
  CHECK_FALSE(batcher.accepts(s.frame(1)));
  CHECK(batcher.close().bytes.size() == 96);

  batcher.add(s.frame(20, 0ns, 3), true);
  CHECK_FALSE(batcher.accepts(s.frame(49)));
  CHECK_FALSE(batcher.due(0ns));
}

TEST_CASE("how many more records end a batch: by frames, by bytes, by the one that does not fit any more") {
  Stream s(1 << 16);
  Batcher by_frames(0, 0, s.ring, {4, no_limits.bytes, no_limits.max_age});
  CHECK(by_frames.records_to_fill() == 1);
  by_frames.add(s.frame(64), true);
  CHECK(by_frames.records_to_fill() == 3);
  by_frames.add(s.frame(64), false);  // discarded ones are in it, too
  CHECK(by_frames.records_to_fill() == 2);

  Batcher exact(0, 0, s.ring, {1000, 256, no_limits.max_age});
  exact.add(s.frame(64), true);
  CHECK(exact.records_to_fill() == 3);
  Batcher with_rest(0, 0, s.ring, {1000, 250, no_limits.max_age});
  with_rest.add(s.frame(64), true);
  CHECK(with_rest.records_to_fill() == 3);  // the fourth does not fit: it ends the batch of three
  Batcher full(0, 0, s.ring, {1000, 64, no_limits.max_age});
  full.add(s.frame(64), true);
  CHECK(full.records_to_fill() == 1);

  Batcher empty_frames(0, 0, s.ring, {1000, 64, no_limits.max_age});
  empty_frames.add(s.frame(0), true);
  CHECK(empty_frames.records_to_fill() == 64);
}

TEST_CASE("a record larger than the limit makes a batch of one") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, {100, 96, 1s});
  const Record large = s.frame(1000);
  CHECK(batcher.accepts(large));
  batcher.add(large, true);
  CHECK(batcher.due(0ns));
  CHECK_FALSE(batcher.accepts(s.frame(1)));
  CHECK(batcher.close().records == 1);
}

TEST_CASE("a batch is due when its first frame has its age") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, {100, 4096, 200ms});
  CHECK_FALSE(batcher.due(10s));
  CHECK_FALSE(batcher.deadline());
  batcher.add(s.frame(16, 1s), true);
  batcher.add(s.frame(16, 1s + 150ms), true);
  CHECK(batcher.deadline() == 1s + 200ms);
  CHECK_FALSE(batcher.due(1s + 200ms - 1ns));
  CHECK(batcher.due(1s + 200ms));
  batcher.close();
  CHECK_FALSE(batcher.due(10s));
  CHECK_FALSE(batcher.deadline());
}

TEST_CASE("an age of never is no overflow") {
  Stream s(64);
  Batcher batcher(0, 0, s.ring, no_limits);
  batcher.add(s.frame(16, 5s), true);
  CHECK(batcher.deadline() == std::chrono::nanoseconds::max());
  CHECK_FALSE(batcher.due(std::chrono::hours(100000)));
}

TEST_CASE("the wrap of the ring breaks the range") {
  Stream s(112);
  Batcher batcher(0, 0, s.ring, no_limits);
  batcher.add(s.frame(48), true);
  s.ring.release(1);
  batcher.close();
  batcher.add(s.frame(48), true);
  const Record wrapped = s.frame(32);
  CHECK(wrapped.offset == 0);
  CHECK_FALSE(batcher.accepts(wrapped));
  CHECK(batcher.close().records == 1);
  batcher.add(wrapped, true);
  CHECK(batcher.close().bytes.data() == s.ring.memory().data());
}

TEST_CASE("the exact end of the ring breaks the range, too") {
  Stream s(96);
  Batcher batcher(0, 0, s.ring, no_limits);
  s.frame(48);
  batcher.add(s.frame(48), true);
  s.ring.release(1);
  CHECK_FALSE(batcher.accepts(s.frame(16)));
}

TEST_CASE("a mark between records does not break the byte range: closing there is the caller's") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, no_limits);
  batcher.add(s.frame(16), true);
  RecordInfo info;
  info.kind = RecordKind::run_end;
  REQUIRE(s.ring.try_mark(info));
  const Record mark = s.ring.peek();
  s.ring.take();
  CHECK_THROWS_AS(batcher.add(mark, true), std::logic_error);
  CHECK(batcher.accepts(s.frame(16)));
}

TEST_CASE("tables of a batch are allocated once") {
  Stream s(4096);
  Batcher batcher(0, 0, s.ring, {20, 4096, 1s});
  batcher.add(s.frame(16), true);
  for (int i = 1; i < 20; ++i) batcher.add(s.frame(16), true);
  const Batch batch = batcher.close();
  CHECK(batch.frames.capacity() == 20);
  CHECK(batch.frame_ok.capacity() == 20);
}

TEST_CASE("closing nothing and batches of no frames are programming errors") {
  Stream s(64);
  CHECK_THROWS_AS(Batcher(0, 0, s.ring, {0, 64, 1s}), std::invalid_argument);
  Batcher batcher(0, 0, s.ring, no_limits);
  CHECK_THROWS_AS(batcher.close(), std::logic_error);
}
