#include "bench/message_memory/body_lane.hpp"

#include <atomic>
#include <cstring>

#include "core/memory/streaming_copy.hpp"
#include "core/model/geometry.hpp"
#include "core/ring/byte_ring.hpp"

namespace pixhist::bench {
namespace {

std::span<const std::byte> bytes_of(const zmq::message_t& body) {
  return {static_cast<const std::byte*>(body.data()), body.size()};
}

void copy_body(std::span<const std::byte> from, std::byte* to, Stores stores) {
  if (stores == Stores::streaming)
    copy_streaming(from, to);
  else
    std::memcpy(to, from.data(), from.size());
}

class BufferLane final : public BodyLane {
 public:
  BufferLane(HostBlock memory, std::size_t frame_bytes, Stores stores)
      : memory_(std::move(memory)), places_(memory_.size() / align16(frame_bytes)), stores_(stores) {}

  bool put(zmq::message_t& body) override {
    copy_body(bytes_of(body), memory_.data() + next_ * align16(body.size()), stores_);
    next_ = (next_ + 1) % places_;
    return true;
  }
  bool add_to(OpenBatch&, std::size_t) override { return false; }
  void release(std::size_t) override {}
  bool has_more() const override { return false; }

 private:
  HostBlock memory_;
  const std::size_t places_;
  const Stores stores_;
  std::size_t next_ = 0;
};

class RingLane final : public BodyLane {
 public:
  RingLane(HostBlock memory, std::size_t frame_bytes, Stores stores)
      : records_(memory.size() / align16(frame_bytes)), ring_(std::move(memory), records_), stores_(stores) {}

  bool put(zmq::message_t& body) override {
    auto writer = ring_.try_claim(body.size());
    if (!writer) return false;
    copy_body(bytes_of(body), writer->payload().data(), stores_);
    writer->commit({});
    return true;
  }

  bool add_to(OpenBatch& batch, std::size_t most_bytes) override {
    for (; ring_.available() != 0; ring_.take()) {
      const auto payload = ring_.payload(ring_.peek());
      const bool first = batch.frames == 0;
      // One range of the ring: a batch ends where the ring does.
      if (!first && (batch.bytes + payload.size() > most_bytes ||
                     batch.pieces.front().data() + batch.bytes != payload.data()))
        return true;
      if (first) batch.pieces.assign(1, payload);
      ++batch.frames;
      batch.bytes += payload.size();
      batch.pieces.front() = {batch.pieces.front().data(), batch.bytes};
    }
    return batch.bytes >= most_bytes;
  }
  void release(std::size_t frames) override { ring_.release(frames); }
  bool has_more() const override { return ring_.available() != 0; }

 private:
  const std::size_t records_;
  ByteRing ring_;
  const Stores stores_;
};

/// Single producer, single consumer, as the ring is.
class MessageLane final : public BodyLane {
 public:
  explicit MessageLane(std::size_t frames) : messages_(frames) {}

  bool put(zmq::message_t& body) override {
    const auto put = put_.load(std::memory_order_relaxed);
    if (put - released_.load(std::memory_order_acquire) == messages_.size()) return false;
    at(put) = std::move(body);
    put_.store(put + 1, std::memory_order_release);
    return true;
  }

  bool add_to(OpenBatch& batch, std::size_t most_bytes) override {
    for (const auto put = put_.load(std::memory_order_acquire); taken_ != put; ++taken_) {
      const auto body = bytes_of(at(taken_));
      if (batch.frames != 0 && batch.bytes + body.size() > most_bytes) return true;
      batch.pieces.push_back(body);
      ++batch.frames;
      batch.bytes += body.size();
    }
    return batch.bytes >= most_bytes;
  }
  void release(std::size_t frames) override {
    auto released = released_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < frames; ++i) at(released++).rebuild();
    released_.store(released, std::memory_order_release);
  }
  bool has_more() const override { return taken_ != put_.load(std::memory_order_acquire); }

 private:
  zmq::message_t& at(std::uint64_t index) { return messages_[index % messages_.size()]; }

  std::vector<zmq::message_t> messages_;
  alignas(64) std::atomic<std::uint64_t> put_{0};
  alignas(64) std::atomic<std::uint64_t> released_{0};
  std::uint64_t taken_ = 0;  // by the consumer into a batch
};

}  // namespace

std::unique_ptr<BodyLane> make_buffer_lane(HostBlock memory, std::size_t frame_bytes, Stores stores) {
  return std::make_unique<BufferLane>(std::move(memory), frame_bytes, stores);
}

std::unique_ptr<BodyLane> make_ring_lane(HostBlock memory, std::size_t frame_bytes, Stores stores) {
  return std::make_unique<RingLane>(std::move(memory), frame_bytes, stores);
}

std::unique_ptr<BodyLane> make_message_lane(std::size_t frames) {
  return std::make_unique<MessageLane>(frames);
}

}  // namespace pixhist::bench
