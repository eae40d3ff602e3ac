#pragma once
// Writes the messages of a slsReceiver (docs/wire/sls.md), byte for byte as version 9.2 prints them: key
// order, separators, the line feed at the end. The pixels are the sender's second part.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/geometry.hpp"

namespace pixhist {

/// One port's header. Texts are written as they are: like the receiver, this escapes nothing, so a `"` or `\`
/// in them gives a header that is not JSON.
struct SlsFrame {
  std::uint32_t json_version = 5;
  std::uint32_t bitmode = 16;
  std::uint64_t file_index = 0;
  FrameShape detshape{1, 1};  // ports of the whole detector; written [cols, rows]
  FrameShape shape;           // pixels of this port; written [cols, rows]
  /// Bytes of the pixel part; absent: rows * cols * bitmode / 8.
  std::optional<std::uint64_t> size;
  std::uint64_t frame_number = 0;  // written as acqIndex, too
  std::uint64_t frame_index = 0;   // frame_number - the first number of the acquisition on this port
  double progress = 0;             // percent; written with 6 significant digits
  std::string_view fname;
  bool complete_image = true;
  std::uint32_t packet_number = 0;  // packets caught
  std::uint64_t timestamp = 0;      // 100 ns
  std::uint16_t mod_id = 0;
  std::uint16_t row = 0;  // of this port, in ports
  std::uint16_t column = 0;
  std::uint8_t det_type = 3;  // sls_det_type below
  std::uint8_t version = 2;
  bool flip_rows = false;
  bool quad = false;
  std::span<const std::pair<std::string, std::string>> additional;  // addJsonHeader; empty: not written
  /// xmin, xmax, ymin, ymax, inclusive; absent: the whole port.
  std::optional<std::array<std::int32_t, 4>> rx_roi;
};

/// Values of `detType`.
namespace sls_det_type {
inline constexpr std::uint8_t eiger = 1;
inline constexpr std::uint8_t jungfrau = 3;
inline constexpr std::uint8_t moench = 5;
}  // namespace sls_det_type

/// Replaces `header`, whose memory is reused: a sender at full rate allocates nothing.
void encode_sls_header(const SlsFrame& frame, std::string& header);

/// The one-part end marker: every field 0 or empty, `jsonversion` apart.
std::string encode_sls_end();

/// The end marker as receivers from 10.1 on fill it, with their settings. `data` is 0 all the same.
std::string encode_sls_end(const SlsFrame& settings);

}  // namespace pixhist
