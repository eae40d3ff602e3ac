#include "core/batch/batcher.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace pixhist {

std::uint64_t Batch::good_frames() const {
  return static_cast<std::uint64_t>(std::count(frame_ok.begin(), frame_ok.end(), std::uint8_t{1}));
}

Batcher::Batcher(std::size_t source, std::size_t ring_index, const ByteRing& ring, BatchLimits limits)
    : source_(source), ring_index_(ring_index), ring_(ring), limits_(limits) {
  if (limits.frames == 0) throw std::invalid_argument("frames of a batch is 0, allowed: at least 1");
}

bool Batcher::accepts(const Record& record) const {
  if (!open_) return true;
  const std::uint64_t bytes = ByteRing::record_bytes(record.payload_bytes, record.table_bytes);
  return record.offset == next_offset_ && open_->frames.size() < limits_.frames &&
         open_->bytes.size() + bytes <= limits_.bytes;
}

void Batcher::open(const Record& record) {
  open_.emplace();
  open_->source = source_;
  open_->ring = ring_index_;
  open_->frames.reserve(limits_.frames);
  open_->frame_ok.reserve(limits_.frames);
  open_->oldest = record.info.received;
  begin_offset_ = record.offset;
}

void Batcher::add(const Record& record, bool ok) {
  if (record.info.kind != RecordKind::frame || !accepts(record))
    throw std::logic_error("Batcher::add of a record that cannot join, allowed: a frame record it accepts()");
  if (!open_) open(record);
  next_offset_ = record.offset + ByteRing::record_bytes(record.payload_bytes, record.table_bytes);
  open_->bytes = ring_.memory().subspan(begin_offset_, next_offset_ - begin_offset_);
  open_->frames.push_back(
      {record.offset - begin_offset_, record.payload_bytes, record.info.flags, record.info.tag});
  open_->frame_ok.push_back(ok ? 1 : 0);
  ++open_->records;
  open_->newest = record.info.received;
}

bool Batcher::due(std::chrono::nanoseconds now) const {
  return open_ && (open_->frames.size() >= limits_.frames || open_->bytes.size() >= limits_.bytes ||
                   now >= *deadline());
}

std::uint64_t Batcher::records_to_fill() const {
  if (!open_ || open_->frames.size() >= limits_.frames || open_->bytes.size() >= limits_.bytes) return 1;
  const std::uint64_t by_frames = limits_.frames - open_->frames.size();
  const std::uint64_t record = std::max<std::uint64_t>(open_->bytes.size() / open_->frames.size(), 1);
  const std::uint64_t bytes_left = limits_.bytes - open_->bytes.size();
  return std::min(by_frames, bytes_left / record + (bytes_left % record == 0 ? 0 : 1));
}

std::optional<std::chrono::nanoseconds> Batcher::deadline() const {
  if (!open_) return std::nullopt;
  // Saturates, so that a max_age of "never" is no overflow.
  if (limits_.max_age > std::chrono::nanoseconds::max() - open_->oldest)
    return std::chrono::nanoseconds::max();
  return open_->oldest + limits_.max_age;
}

Batch Batcher::close() {
  if (!open_) throw std::logic_error("Batcher::close without an open batch, allowed: only when not empty()");
  Batch batch = std::move(*open_);
  open_.reset();
  return batch;
}

}  // namespace pixhist
