#pragma once
// The JSON part of an slsReceiver's message, read in one pass without building a tree. What it says is kept,
// what is wrong with it is noted; judging both against the configuration is the decoder's work.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/ring/record.hpp"
#include "proto/ingest/json_reader.hpp"

namespace pixhist {

/// Keys that mean something at the top level. Every other key is skipped, whatever it holds.
enum class SlsKey : std::uint8_t {
  json_version,
  bitmode,
  file_index,
  shape,
  size,
  frame_index,
  fname,
  data,
  complete_image,
  frame_number,
  row,
  column,
  det_type,
  flip_rows,
  detshape,
  htype
};
inline constexpr std::size_t sls_key_count = 16;
/// The decoder judges keys before this one; the others serve to describe a message.
inline constexpr SlsKey first_descriptive_sls_key = SlsKey::detshape;
inline constexpr std::string_view sls_key_names[sls_key_count] = {
    "jsonversion",   "bitmode",     "fileIndex", "shape",  "size",    "frameIndex", "fname",    "data",
    "completeImage", "frameNumber", "row",       "column", "detType", "flipRows",   "detshape", "htype"};
/// What flipRows was called up to 5.1.
inline constexpr std::string_view sls_old_flip_rows = "flippedDataX";
constexpr std::string_view name_of(SlsKey key) { return sls_key_names[static_cast<std::size_t>(key)]; }

/// Two extents, columns first.
struct SlsExtents {
  std::array<std::uint64_t, 2> values{};
  std::size_t count = 0;  // may exceed 2: what lies beyond is not kept
};

struct SlsHeader {
  bool is_object = false;
  std::array<bool, sls_key_count> present{};
  /// Not empty: the value is of a wrong kind or stands twice; says what was given and what is allowed.
  std::array<std::string, sls_key_count> fault;
  std::array<std::uint64_t, sls_key_count> numbers{};  // of the keys that hold one
  SlsExtents shape;                                    // pixels of the port
  SlsExtents detshape;                                 // ports of the detector
  RunKeyBuilder fname;                                 // has been given the text
  std::string htype;                                   // printable; slsReceivers send none

  bool has(SlsKey key) const { return present[static_cast<std::size_t>(key)]; }
  const std::string& fault_of(SlsKey key) const { return fault[static_cast<std::size_t>(key)]; }
  std::uint64_t number(SlsKey key) const { return numbers[static_cast<std::size_t>(key)]; }
};

/// False if `text` is not one JSON value; `fault` then says why (printable, bounded). Never throws for any
/// bytes; allocates only to note a fault.
bool read_sls_header(JsonReader& reader, std::string_view text, SlsHeader& header, std::string& fault);

}  // namespace pixhist
