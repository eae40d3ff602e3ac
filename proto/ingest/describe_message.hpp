#pragma once
// What one message of an unknown sender is, so that a configuration can be written for it (pixhistd --probe).

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "proto/ingest/frame_decoder.hpp"

namespace pixhist {

/// A frame that the format's decoder takes when it is configured so.
struct FrameDescription {
  ExpectedFrame frame;
  FrameShape detector;         // of all ports; sls says it, elsewhere it is the frame's own
  std::optional<Place> place;  // where the frame lies in it, if the format says it
  bool jungfrau = false;       // 14-bit ADC values below two gain bits
  bool adc14 = false;          // values below 2^14, gain bits taken off
  double lowest = 0;           // of this frame's finite values; 0 without any
  double highest = 0;
};

/// A control message: what comes next may be a frame.
struct NoFrameYet {};

/// Why the message is no frame of this format: what was found, what is allowed. Printable, bounded.
struct UnusableMessage {
  std::string why;
};

using MessageDescription = std::variant<FrameDescription, NoFrameYet, UnusableMessage>;

/// Describes the parts of one message as the built format `format` reads them. Throws std::invalid_argument,
/// naming what is allowed, for any other format; nothing for any bytes.
MessageDescription describe_message(std::string_view format, std::span<const MessagePart> parts);

}  // namespace pixhist
