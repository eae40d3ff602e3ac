#pragma once
// The wire formats by name, and the decoder of each.

#include <memory>
#include <span>
#include <string_view>

#include "proto/ingest/frame_decoder.hpp"

namespace pixhist {

struct WireFormat {
  std::string_view name;  // the value of sources[].format
  bool built;             // false: known, but no decoder yet
  std::string_view covers;
};

/// Every known format, built ones first.
std::span<const WireFormat> wire_formats();

/// A decoder with no state of other sources. Throws std::invalid_argument, naming the format and what is
/// allowed, if it is unknown or not built: the configuration refuses both before.
std::unique_ptr<FrameDecoder> make_decoder(std::string_view format, const ExpectedFrame& expected);

}  // namespace pixhist
