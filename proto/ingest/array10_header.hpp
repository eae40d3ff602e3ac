#pragma once
// The JSON part of an array10 message, read in one pass without building a tree. What it says is kept, what
// is wrong with it is noted; judging both against the configuration is the decoder's work.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/pixel_type.hpp"
#include "core/ring/record.hpp"
#include "proto/ingest/json_reader.hpp"

namespace pixhist {

/// Keys that mean something at the top level. Every other key is skipped, whatever it holds.
enum class Array10Key : std::uint8_t { htype, shape, type, frame, encoding, compression, run, end, frames };
inline constexpr std::size_t array10_key_count = 9;
inline constexpr std::size_t array10_frame_keys = 7;  // of a frame: the first ones, without end and frames
inline constexpr std::string_view array10_key_names[array10_key_count] = {
    "htype", "shape", "type", "frame", "encoding", "compression", "run", "end", "frames"};
constexpr std::string_view name_of(Array10Key key) {
  return array10_key_names[static_cast<std::size_t>(key)];
}

struct Array10Header {
  bool is_object = false;
  std::array<bool, array10_key_count> present{};
  /// Not empty: the value is of a wrong kind or stands twice; says what was given and what is allowed.
  std::array<std::string, array10_key_count> fault;

  bool htype_known = true;  // begins with "array-1"
  std::string htype;        // printable; only of an unknown one
  std::array<std::uint64_t, 4> dims{};
  std::size_t ndim = 0;  // may exceed dims.size(): what lies beyond is not kept
  std::optional<PixelType> type;
  std::string type_text;  // printable; only of a type that is none of ours
  std::uint64_t frame = 0;
  std::string encoding;  // printable; empty: raw. Of `encoding` or `compression`, whichever is not raw
  RunKey run;
  bool end = false;
  std::uint64_t frames = 0;

  bool has(Array10Key key) const { return present[static_cast<std::size_t>(key)]; }
  const std::string& fault_of(Array10Key key) const { return fault[static_cast<std::size_t>(key)]; }
};

/// False if `text` is not one JSON value; `fault` then says why (printable, bounded). Never throws for any
/// bytes; allocates only to note a fault. `keys`: how many of the keys count, from the first on.
bool read_array10_header(JsonReader& reader, std::string_view text, std::size_t keys, Array10Header& header,
                         std::string& fault);

}  // namespace pixhist
