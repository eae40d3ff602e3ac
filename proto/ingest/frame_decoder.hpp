#pragma once
// What every wire-format decoder offers the receive thread: the parts of one message become a control
// message, a frame whose payload is one of the parts, or a rejection. Decoders never keep or copy pixels.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "core/model/frame_fate.hpp"
#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "core/ring/record.hpp"

namespace pixhist {

using MessagePart = std::span<const std::byte>;

/// What a source is configured to deliver. Constant for the life of the process.
struct ExpectedFrame {
  FrameShape shape;
  PixelType pixel_type = PixelType::u16;
  std::size_t bytes() const { return shape.pixels() * size_of(pixel_type); }
};

/// A frame: `payload` is the part that holds the (possibly encoded) pixels. received is left unset.
struct FrameMessage {
  RecordInfo info;
  MessagePart payload;
  std::optional<Place> place;  // in detector pixels, as the header says; only formats that say it (sls)
};

/// Start, end, metadata. mark: info.kind is run_start or run_end and belongs into the ring.
struct ControlMessage {
  bool mark = false;
  RecordInfo info;
};

struct Rejection {
  RejectReason reason;
  std::string message;  // what was given and what is allowed; for the log and `status`, bounded length
};

using DecodedMessage = std::variant<FrameMessage, ControlMessage, Rejection>;

class FrameDecoder {
 public:
  virtual ~FrameDecoder() = default;
  /// Never throws for any bytes. For a good frame it allocates nothing and takes no lock.
  virtual DecodedMessage decode(std::span<const MessagePart> parts) = 0;
  /// Most parts a legal message has; the receiver discards what comes beyond and passes one more empty part.
  virtual std::size_t max_parts() const = 0;
};

}  // namespace pixhist
