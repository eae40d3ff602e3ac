#pragma once
// What may be wrong with a frame on purpose: one table for the options, the plan and the report.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pixhist {

/// Where several selections name one number, the first of this order wins.
enum class FrameFault : std::uint8_t {
  none,
  skipped,
  bad_header,
  missing_key,
  wrong_kind,
  huge_header,
  wrong_size,
  long_size,
  wrong_type,
  wrong_shape,
  extra_part,
  missing_part,
  huge_part,
  duplicated,
  late,
  stale,
};
inline constexpr std::size_t frame_fault_count = 16;  // with none

struct FrameFaultRow {
  FrameFault fault;
  const char* option;
  const char* key;  // in the report
  const char* help;
};

inline constexpr std::array<FrameFaultRow, frame_fault_count - 1> frame_fault_table{{
    {FrameFault::skipped, "--skip", "skipped", "numbers never sent"},
    {FrameFault::bad_header, "--bad-header", "bad_header", "numbers sent with a header that is not JSON"},
    {FrameFault::missing_key, "--missing-key", "missing_key", "numbers whose header lacks a key it needs"},
    {FrameFault::wrong_kind, "--wrong-kind", "wrong_kind", "numbers whose header has a text for a number"},
    {FrameFault::huge_header, "--huge-header", "huge_header", "numbers with a header of 70000 bytes"},
    {FrameFault::wrong_size, "--wrong-size", "wrong_size", "numbers sent with a byte of pixels too few"},
    {FrameFault::long_size, "--long-size", "long_size", "numbers sent with a byte of pixels too many"},
    {FrameFault::wrong_type, "--wrong-type", "wrong_type", "numbers whose header names another pixel type"},
    {FrameFault::wrong_shape, "--wrong-shape", "wrong_shape",
     "numbers sent whole, but with a row more; 500- changes the geometry in mid-run"},
    {FrameFault::extra_part, "--extra-part", "extra_part", "numbers sent with a third part"},
    {FrameFault::missing_part, "--missing-part", "missing_part", "numbers sent without their pixels"},
    {FrameFault::huge_part, "--huge-part", "huge_part",
     "numbers sent with 32 MiB of pixels too many, for which a receiver may cut the connection"},
    {FrameFault::duplicated, "--duplicate", "duplicated", "numbers sent twice"},
    {FrameFault::late, "--late", "late",
     "numbers sent --late-by frames later, at the end of the run at last"},
    {FrameFault::stale, "--stale", "stale",
     "numbers followed by a frame of the run before (of its name, with this number), from the second run on"},
}};

/// True for a message that is sent, but that no receiver takes for a frame.
constexpr bool is_rejected(FrameFault fault) {
  return fault >= FrameFault::bad_header && fault <= FrameFault::huge_part;
}

/// The reason a receiver rejects a message with this fault (is_rejected()) for; the same in every wire
/// format.
constexpr std::string_view reject_reason(FrameFault fault) {
  switch (fault) {
    case FrameFault::bad_header: return "not_json";
    case FrameFault::missing_key:
    case FrameFault::wrong_kind: return "bad_header";
    case FrameFault::huge_header: return "too_large";
    case FrameFault::wrong_type: return "dtype";
    case FrameFault::wrong_shape: return "geometry";
    case FrameFault::extra_part:
    case FrameFault::missing_part: return "parts";
    default: return "size";
  }
}

}  // namespace pixhist
