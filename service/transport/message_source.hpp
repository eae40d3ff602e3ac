#pragma once
// Where a receive thread gets messages from. The ZeroMQ socket is one; tests have another.

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "proto/ingest/frame_decoder.hpp"

namespace pixhist {

/// One whole multipart message. The bytes belong to the source and stay valid until its next receive().
struct ReceivedMessage {
  std::span<const MessagePart> parts;  // without the topic part; at most the decoder's max_parts() + 1
  std::size_t bytes = 0;               // of all parts, those that were thrown away too
};

class MessageSource {
 public:
  virtual ~MessageSource() = default;
  /// The next message, or nothing if none is there now.
  virtual std::optional<ReceivedMessage> receive() = 0;
  /// Waits until a message may be there.
  virtual void wait(std::chrono::milliseconds at_most) = 0;
  /// To be called now and then by who cannot receive() for a while.
  virtual void attend() {}
};

}  // namespace pixhist
