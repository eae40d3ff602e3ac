#pragma once
// Cuts the records of one ring into batches. A batch is full at whichever comes first: frames, bytes, age of
// its first frame; a break in the byte range (wrap of the ring) ends it too. At a mark or barrier the caller
// closes, so a batch holds frame records only and every record from its first to its last. Discarded frames
// in the range stay in the batch, masked. Owned by the submit thread; no locks.

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/batch/batch.hpp"
#include "core/ring/byte_ring.hpp"

namespace pixhist {

struct BatchLimits {
  std::uint32_t frames = 255;
  std::uint64_t bytes = 64ULL << 20;  // of records; the caller has already capped it at a quarter of the
                                      // ring. A single record beyond it makes a batch of one
  std::chrono::nanoseconds max_age = std::chrono::milliseconds(200);
};

class Batcher {
 public:
  /// `ring` outlives the batcher and its batches. Throws std::invalid_argument if limits.frames is 0.
  Batcher(std::size_t source, std::size_t ring_index, const ByteRing& ring, BatchLimits limits);

  /// True if `record` can join the open batch (or there is none): it continues the byte range and keeps
  /// within the limits. If false, close first.
  bool accepts(const Record& record) const;
  /// Adds a frame record just taken from the ring. ok = false: discarded, masked in the batch.
  /// Throws std::logic_error unless accepts(record).
  void add(const Record& record, bool ok);
  /// True if the open batch has reached a limit at `now`. An empty one never has.
  bool due(std::chrono::nanoseconds now) const;
  /// How many more records of the size of those in the open batch will end it, at least 1; 1 while empty.
  std::uint64_t records_to_fill() const;
  bool empty() const { return !open_.has_value(); }
  /// Receipt of the first frame + max_age; nothing while empty.
  std::optional<std::chrono::nanoseconds> deadline() const;
  /// Hands the open batch over. Throws std::logic_error if empty().
  Batch close();

 private:
  void open(const Record& record);

  const std::size_t source_;
  const std::size_t ring_index_;
  const ByteRing& ring_;
  const BatchLimits limits_;
  std::optional<Batch> open_;
  std::uint64_t begin_offset_ = 0;  // of the open batch in the ring's memory
  std::uint64_t next_offset_ = 0;   // where the next record must begin to continue the range
};

}  // namespace pixhist
