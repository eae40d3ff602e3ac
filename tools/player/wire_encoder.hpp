#pragma once
// How the player writes one wire format, well and badly, and what a receiver of that format makes of it.
// Used by one thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/geometry.hpp"
#include "core/model/pixel_type.hpp"
#include "tools/player/detector_ports.hpp"
#include "tools/player/frame_fault.hpp"

namespace pixhist {

/// A frame as the plan knows it.
struct WireFrame {
  std::uint64_t run = 0;       // 0, 1, ... within this call
  std::uint64_t first = 0;     // first number of its run
  std::uint64_t number = 0;    // first + position
  std::uint64_t position = 0;  // in its run
  bool complete = true;        // no part of the pixels is missing
};

/// How a receiver names the run of a message. Views hold until the encoder's next call.
struct WireEnd {
  std::optional<std::string_view> key;
  std::optional<std::uint64_t> frames;
};

class WireEncoder {
 public:
  virtual ~WireEncoder() = default;

  /// Replaces `header` by that of a good frame, or spoilt as `fault` says.
  virtual void header(const WireFrame& frame, FrameFault fault, std::string& header) = 0;
  /// An end mark of run `run`, which has had `numbers` frame numbers.
  virtual std::string end_mark(std::uint64_t run, std::uint64_t numbers) = 0;

  /// What a receiver reads in them: the key of a frame's run, key and length of an end mark.
  virtual std::optional<std::string_view> run_key(const WireFrame& frame) = 0;
  virtual WireEnd read_end(std::uint64_t run, std::uint64_t numbers) = 0;
};

enum class RunKeys : std::uint8_t {
  fresh,  // every run its own
  same,   // all runs have the first one's
  none,   // no run has one
};

/// array10 (docs/wire/array10.md). Run 0 is named `run`, run 1 `run`-2, and so on.
std::unique_ptr<WireEncoder> make_array10_wire(FrameShape shape, PixelType type, std::string run,
                                               RunKeys keys);

/// One port of an slsReceiver (docs/wire/sls.md). The run key of array10 has no place there: a receiver tells
/// acquisitions apart by file name, file index and first number.
struct SlsWireSettings {
  FrameShape shape;           // of the port
  std::uint32_t bits = 16;    // 4, 8, 12, 16, 32
  FrameShape detector{1, 1};  // in ports
  PortPlace place;
  std::uint8_t det_type = 3;
  std::uint32_t packet_bytes = 8192;
  std::string fname = "//run";
  std::uint64_t file_index = 0;                                 // of run 0
  bool file_index_goes_on = true;                               // from run to run, as with file writing on
  std::uint32_t json_version = 5;                               // or 4, which lacks rx_roi
  std::vector<std::pair<std::string, std::string>> additional;  // addJsonHeader
  bool filled_end = false;              // end markers hold the settings, as from 10.1 on, instead of zeros
  std::optional<std::uint64_t> frames;  // asked for, for `progress`
};
std::unique_ptr<WireEncoder> make_sls_wire(SlsWireSettings settings);

}  // namespace pixhist
