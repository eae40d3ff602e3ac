#pragma once
// Writes what array10_decoder.hpp reads: the header part of a frame and the one-part end message
// (docs/wire/array10.md). The pixels are the sender's second part, little-endian, C order.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"

namespace pixhist {

struct Array10Frame {
  FrameShape shape;
  PixelType pixel_type = PixelType::u16;
  std::optional<std::uint64_t> number;  // absent: the receiver judges no numbers
  std::optional<std::string_view> run;  // UTF-8; a change opens a run
};

/// Replaces `header`, whose memory is reused: a sender at full rate allocates nothing.
void encode_array10_header(const Array10Frame& frame, std::string& header);

/// `frames`: how many numbers the run had, so that the receiver can count what was lost at its end.
std::string encode_array10_end(std::optional<std::string_view> run, std::optional<std::uint64_t> frames);

}  // namespace pixhist
