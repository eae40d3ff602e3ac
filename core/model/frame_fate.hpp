#pragma once
// The fates of a frame, by name. The names are label values in the metrics and keys in `status`.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pixhist {

/// Why a message never became a frame in the ring (docs/wire/).
enum class RejectReason : std::uint8_t {
  not_json,
  bad_header,
  parts,
  size,
  dtype,
  geometry,
  encoding,
  decode,
  incomplete,
  too_large,
  unknown_message
};
inline constexpr std::size_t reject_reason_count = 11;
inline constexpr std::string_view reject_reason_names[reject_reason_count] = {
    "not_json", "bad_header", "parts",      "size",      "dtype",          "geometry",
    "encoding", "decode",     "incomplete", "too_large", "unknown_message"};
constexpr std::string_view name_of(RejectReason r) {
  return reject_reason_names[static_cast<std::size_t>(r)];
}

/// Why a frame that was accepted is in no histogram.
enum class DiscardReason : std::uint8_t { reset, stop, decode, duplicate, stale_run };
inline constexpr std::size_t discard_reason_count = 5;
inline constexpr std::string_view discard_reason_names[discard_reason_count] = {"reset", "stop", "decode",
                                                                                "duplicate", "stale_run"};
constexpr std::string_view name_of(DiscardReason r) {
  return discard_reason_names[static_cast<std::size_t>(r)];
}

}  // namespace pixhist
