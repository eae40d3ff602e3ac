#pragma once
// From one receive thread to the thread that takes batches: a ring that bodies are copied into, a queue of
// the messages themselves, or a buffer that nobody reads.

#include <cstddef>
#include <memory>
#include <vector>
#include <zmq.hpp>

#include "bench/message_memory/device_copy.hpp"
#include "core/memory/host_memory.hpp"
#include "service/agents/doorbell.hpp"

namespace pixhist::bench {

/// How a body is copied: memcpy, or past the caches.
enum class Stores : bool { cached, streaming };

struct OpenBatch {
  std::vector<Piece> pieces;
  std::size_t frames = 0;
  std::size_t bytes = 0;
};

class BodyLane {
 public:
  virtual ~BodyLane() = default;
  /// Receive thread: false while there is no room; then the body stays with the caller.
  virtual bool put(zmq::message_t& body) = 0;
  /// Consumer: adds what has come, up to `most_bytes` in all; true once no more will fit.
  virtual bool add_to(OpenBatch& batch, std::size_t most_bytes) = 0;
  /// Consumer: gives the oldest frames back.
  virtual void release(std::size_t frames) = 0;
  /// Consumer: whether add_to() would find something.
  virtual bool has_more() const = 0;

  Doorbell space;  // rung after a release
};

/// Body after body into the same memory, over and over; there is nothing for a consumer.
std::unique_ptr<BodyLane> make_buffer_lane(HostBlock memory, std::size_t frame_bytes, Stores stores);
std::unique_ptr<BodyLane> make_ring_lane(HostBlock memory, std::size_t frame_bytes, Stores stores);
/// At most `frames` messages, none of them copied.
std::unique_ptr<BodyLane> make_message_lane(std::size_t frames);

}  // namespace pixhist::bench
