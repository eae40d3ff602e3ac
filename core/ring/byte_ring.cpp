#include "core/ring/byte_ring.hpp"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/model/geometry.hpp"

// Memory order. Two edges carry everything:
//   publish:  the producer writes bytes and descriptor, then stores committed_ with release; the consumer
//   loads
//             it with acquire before it reads either.
//   give back: the consumer has read bytes and descriptor, then stores released_position_ and released_ with
//             release; the producer loads them with acquire before it overwrites what they free.
// Each side reads its own counters relaxed. Other threads read counters only, never records.

namespace pixhist {

RecordWriter::RecordWriter(ByteRing& ring, std::span<std::byte> payload, std::span<std::byte> table,
                           std::uint64_t offset, std::uint64_t end_position)
    : ring_(&ring), payload_(payload), table_(table), offset_(offset), end_position_(end_position) {}

RecordWriter::RecordWriter(RecordWriter&& other) noexcept
    : ring_(std::exchange(other.ring_, nullptr)),
      payload_(std::exchange(other.payload_, {})),
      table_(std::exchange(other.table_, {})),
      offset_(other.offset_),
      end_position_(other.end_position_) {}

void RecordWriter::commit(const RecordInfo& info) {
  if (ring_ == nullptr)
    throw std::logic_error("RecordWriter::commit: this writer was already committed or moved from");
  std::exchange(ring_, nullptr)
      ->publish({info, end_position_, offset_, static_cast<std::uint32_t>(payload_.size()),
                 static_cast<std::uint32_t>(table_.size())});
}

ByteRing::ByteRing(HostBlock memory, std::size_t max_records)
    : memory_(std::move(memory)), records_(max_records) {
  if (memory_.size() == 0) throw std::invalid_argument("ring memory is 0 bytes, allowed: at least 1");
  if (max_records == 0) throw std::invalid_argument("max_records is 0, allowed: at least 1");
}

std::uint64_t ByteRing::record_bytes(std::size_t payload_bytes, std::size_t table_bytes) {
  return std::uint64_t{align16(payload_bytes)} + align16(table_bytes);
}

bool ByteRing::can_hold(std::size_t payload_bytes, std::size_t table_bytes) const {
  return payload_bytes <= max_part_bytes && table_bytes <= max_part_bytes &&
         record_bytes(payload_bytes, table_bytes) <= capacity();
}

void ByteRing::look_at_released() {
  released_seen_ = released_.load(std::memory_order_acquire);
  released_position_seen_ = released_position_.load(std::memory_order_acquire);
}

bool ByteRing::descriptor_free() {
  const std::uint64_t committed = committed_.load(std::memory_order_relaxed);
  if (committed - released_seen_ < records_.size()) return true;
  look_at_released();
  return committed - released_seen_ < records_.size();
}

std::optional<ByteRing::Space> ByteRing::find_space(std::uint64_t bytes) {
  const std::uint64_t position = write_position_.load(std::memory_order_relaxed);
  const std::uint64_t to_end = capacity() - write_offset_;
  const bool wraps = bytes > to_end;
  // A wrap is rare, so it is worth a fresh look: an empty ring needs no padding.
  if (wraps || position - released_position_seen_ + bytes > capacity()) look_at_released();

  const std::uint64_t used = position - released_position_seen_;
  const std::uint64_t padding = wraps && used != 0 ? to_end : 0;
  if (used + padding + bytes > capacity()) return std::nullopt;
  return Space{wraps ? 0 : write_offset_, position + padding + bytes};
}

std::optional<RecordWriter> ByteRing::try_claim(std::size_t payload_bytes, std::size_t table_bytes) {
  if (!can_hold(payload_bytes, table_bytes) || !descriptor_free()) return std::nullopt;
  const auto space = find_space(record_bytes(payload_bytes, table_bytes));
  if (!space) return std::nullopt;
  const auto bytes = memory_.bytes().subspan(space->offset, record_bytes(payload_bytes, table_bytes));
  return RecordWriter(*this, bytes.first(payload_bytes), bytes.subspan(align16(payload_bytes), table_bytes),
                      space->offset, space->end_position);
}

bool ByteRing::try_mark(const RecordInfo& info) {
  if (!descriptor_free()) return false;
  publish({info, write_position_.load(std::memory_order_relaxed), write_offset_, 0, 0});
  return true;
}

void ByteRing::publish(const Record& record) {
  const std::uint64_t index = committed_.load(std::memory_order_relaxed);
  slot(index) = record;
  write_offset_ = record.offset + record_bytes(record.payload_bytes, record.table_bytes);
  note_high_water(record.end_position);
  // Before committed_: who sees the record released has then seen this position too, see used_bytes().
  write_position_.store(record.end_position, std::memory_order_relaxed);
  committed_.store(index + 1, std::memory_order_release);
}

void ByteRing::note_high_water(std::uint64_t end_position) {
  const std::uint64_t high = high_water_.load(std::memory_order_relaxed);
  if (end_position - released_position_seen_ <= high) return;
  look_at_released();
  high_water_.store(std::max(high, end_position - released_position_seen_), std::memory_order_relaxed);
}

std::size_t ByteRing::available() const {
  return static_cast<std::size_t>(committed_.load(std::memory_order_acquire) -
                                  taken_.load(std::memory_order_relaxed));
}

const Record& ByteRing::peek(std::size_t i) const {
  assert(i < available());
  return slot(taken_.load(std::memory_order_relaxed) + i);
}

void ByteRing::take(std::size_t n) {
  if (n > available())
    throw std::logic_error("ByteRing::take of " + std::to_string(n) +
                           " records, allowed: at most available(), " + std::to_string(available()));
  taken_.store(taken_.load(std::memory_order_relaxed) + n, std::memory_order_release);
}

void ByteRing::release(std::size_t n) {
  const std::uint64_t released = released_.load(std::memory_order_relaxed);
  const std::uint64_t held = taken_.load(std::memory_order_relaxed) - released;
  if (n > held)
    throw std::logic_error("ByteRing::release of " + std::to_string(n) +
                           " records, allowed: at most those taken and not released, " +
                           std::to_string(held));
  if (n == 0) return;
  released_position_.store(slot(released + n - 1).end_position, std::memory_order_release);
  released_.store(released + n, std::memory_order_release);
}

std::span<const std::byte> ByteRing::payload(const Record& record) const {
  return memory().subspan(record.offset, record.payload_bytes);
}

std::span<const std::byte> ByteRing::table(const Record& record) const {
  return memory().subspan(record.offset + align16(record.payload_bytes), record.table_bytes);
}

std::uint64_t ByteRing::committed() const { return committed_.load(std::memory_order_acquire); }

std::uint64_t ByteRing::taken() const { return taken_.load(std::memory_order_acquire); }

std::uint64_t ByteRing::used_bytes() const {
  // Downstream first: a released position was written before its record was committed, so what is read second
  // is never behind. It may be ahead of what is released by then, hence the cap.
  const std::uint64_t released = released_position_.load(std::memory_order_acquire);
  return std::min(write_position_.load(std::memory_order_relaxed) - released, capacity());
}

std::uint64_t ByteRing::high_water_bytes() const { return high_water_.load(std::memory_order_relaxed); }

}  // namespace pixhist
