#pragma once
// Single-producer, single-consumer ring of variable-size records in one block of (pinned) memory.
//
// Producer (receive thread): try_claim, write, commit; a writer that is not committed aborts by scope exit.
// Consumer (submit thread): peek/take records in order, release them in order when their copy is done.
// A record never wraps: if it does not fit before the end, the rest of the memory is padding, freed with it.
// While no byte is held the rest needs no guarding: the record starts at 0 without padding. So whenever all
// is released, any record that can_hold() accepts finds space. A record takes align16(payload) +
// align16(block table) bytes. Descriptors live beside the bytes, so a run of frame records is one contiguous
// range of pixels and goes to the device in one copy. Positions count held bytes and padding since the ring
// was made, in 64 bits, and never wrap in practice.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/memory/host_memory.hpp"
#include "core/ring/record.hpp"

namespace pixhist {

class ByteRing;

/// A claimed record being written. Move-only, local to the producer, one at a time. Destruction without
/// commit aborts: nothing becomes visible and the space is claimed again by the next record.
class RecordWriter {
 public:
  RecordWriter(RecordWriter&& other) noexcept;
  RecordWriter& operator=(RecordWriter&&) = delete;  // a writer is bound to its claim
  ~RecordWriter() = default;

  std::span<std::byte> payload() const { return payload_; }
  std::span<std::byte> table() const { return table_; }

  /// Makes the record visible to the consumer. Throws std::logic_error the second time.
  void commit(const RecordInfo& info);

 private:
  friend class ByteRing;
  RecordWriter(ByteRing& ring, std::span<std::byte> payload, std::span<std::byte> table, std::uint64_t offset,
               std::uint64_t end_position);
  ByteRing* ring_;
  std::span<std::byte> payload_;
  std::span<std::byte> table_;
  std::uint64_t offset_;
  std::uint64_t end_position_;
};

class ByteRing {
 public:
  /// Limit of a payload and of a block table, each: their sizes travel as 32 bits.
  static constexpr std::size_t max_part_bytes = std::numeric_limits<std::uint32_t>::max();

  /// `memory` holds the bytes (its size is the capacity), `max_records` bounds records not yet released
  /// (frames and marks). Throws std::invalid_argument if either is zero.
  ByteRing(HostBlock memory, std::size_t max_records);
  ByteRing(const ByteRing&) = delete;  // both threads hold references to it
  ByteRing& operator=(const ByteRing&) = delete;

  /// Bytes a record of this size takes; each part at most max_part_bytes.
  static std::uint64_t record_bytes(std::size_t payload_bytes, std::size_t table_bytes);
  /// True if an empty ring has space for a record of this size.
  bool can_hold(std::size_t payload_bytes, std::size_t table_bytes = 0) const;

  // --- producer ---
  /// Space for one record, or nothing while the ring is full (bytes or descriptors). Nothing for ever if
  /// can_hold() is false: ask it before waiting. An earlier writer must have been committed or dropped.
  std::optional<RecordWriter> try_claim(std::size_t payload_bytes, std::size_t table_bytes = 0);
  /// Commits a record without payload (a run mark). False while no descriptor is free.
  bool try_mark(const RecordInfo& info);

  // --- consumer ---
  /// Records committed and not yet taken.
  std::size_t available() const;
  /// The i-th record not yet taken, i < available(). Valid until released.
  const Record& peek(std::size_t i = 0) const;
  /// Takes the next n records. Throws std::logic_error if n > available().
  void take(std::size_t n = 1);
  /// Frees the n oldest taken records. Throws std::logic_error if fewer are taken and not released.
  void release(std::size_t n);
  /// Payload of a taken or peeked record that is not yet released.
  std::span<const std::byte> payload(const Record& record) const;
  /// Block table of such a record.
  std::span<const std::byte> table(const Record& record) const;

  // --- any thread ---
  std::uint64_t committed() const;  // records ever committed
  std::uint64_t taken() const;      // records ever taken
  /// Bytes of records and padding not yet released, at most capacity().
  std::uint64_t used_bytes() const;
  /// The highest number of used bytes there has been.
  std::uint64_t high_water_bytes() const;
  std::uint64_t capacity() const { return memory_.size(); }
  std::span<const std::byte> memory() const { return memory_.bytes(); }

 private:
  friend class RecordWriter;

  /// Where a record would go: its first byte, and the position behind it (padding included).
  struct Space {
    std::uint64_t offset;
    std::uint64_t end_position;
  };
  std::optional<Space> find_space(std::uint64_t bytes);
  bool descriptor_free();
  void look_at_released();
  void note_high_water(std::uint64_t end_position);
  void publish(const Record& record);
  Record& slot(std::uint64_t index) { return records_[index % records_.size()]; }
  const Record& slot(std::uint64_t index) const { return records_[index % records_.size()]; }

  // Constant after construction.
  HostBlock memory_;
  std::vector<Record> records_;

  // Written by the producer.
  alignas(64) std::atomic<std::uint64_t> committed_{0};
  std::atomic<std::uint64_t> write_position_{0};
  std::atomic<std::uint64_t> high_water_{0};
  std::uint64_t write_offset_ = 0;   // in the memory, behind the newest record
  std::uint64_t released_seen_ = 0;  // producer's copies of the consumer's counters
  std::uint64_t released_position_seen_ = 0;

  // Written by the consumer.
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> released_{0};
  std::atomic<std::uint64_t> released_position_{0};
};

}  // namespace pixhist
