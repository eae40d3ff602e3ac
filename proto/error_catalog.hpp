#pragma once
// Every error a query can be answered with. The docs are generated from this table; names are stable.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pixhist {

enum class ErrorCode : std::uint8_t {
  bad_request, request_too_large, unsupported_version, unknown_op, bad_argument, missing_argument,
  pixel_out_of_range, roi_out_of_range, bins_out_of_range, reply_too_large, no_memory, no_snapshot,
  run_changed, busy, forbidden, not_built, wrong_state, io_error, device_lost, internal
};

struct ErrorEntry {
  ErrorCode code;
  std::string_view name;
  bool retryable;  // the same request may succeed later, unchanged
  std::string_view meaning;
};

inline constexpr std::array<ErrorEntry, 20> error_catalog{{
    {ErrorCode::bad_request, "bad_request", false, "not one JSON object of this protocol in one message part"},
    {ErrorCode::request_too_large, "request_too_large", false, "the request is larger than 64 KiB"},
    {ErrorCode::unsupported_version, "unsupported_version", false, "`v` is not 1"},
    {ErrorCode::unknown_op, "unknown_op", false, "no such operation; `info` lists them"},
    {ErrorCode::bad_argument, "bad_argument", false, "an unknown argument, or a value that is not allowed"},
    {ErrorCode::missing_argument, "missing_argument", false, "an argument the operation needs is not there"},
    {ErrorCode::pixel_out_of_range, "pixel_out_of_range", false, "row or col lies outside the detector"},
    {ErrorCode::roi_out_of_range, "roi_out_of_range", false, "the region is empty or leaves the detector"},
    {ErrorCode::bins_out_of_range, "bins_out_of_range", false, "the bin interval is empty or leaves the axis"},
    {ErrorCode::reply_too_large, "reply_too_large", false, "the reply would exceed query.max_reply_bytes"},
    {ErrorCode::no_memory, "no_memory", true, "no memory for the result now; the message says how much is needed"},
    {ErrorCode::no_snapshot, "no_snapshot", false, "no held snapshot of that id; it may have expired"},
    {ErrorCode::run_changed, "run_changed", false, "the two cuts belong to different runs"},
    {ErrorCode::busy, "busy", true, "too many requests are waiting"},
    {ErrorCode::forbidden, "forbidden", false, "the configuration does not allow control from here"},
    {ErrorCode::not_built, "not_built", false, "known, but not built yet in this version"},
    {ErrorCode::wrong_state, "wrong_state", true, "not possible in the present state"},
    {ErrorCode::io_error, "io_error", true, "a file could not be written or read"},
    {ErrorCode::device_lost, "device_lost", false, "the device failed; the service is about to exit"},
    {ErrorCode::internal, "internal", false, "a fault of the service; please report it"},
}};

constexpr bool catalog_is_ordered() {
  for (std::size_t i = 0; i < error_catalog.size(); ++i) {
    if (static_cast<std::size_t>(error_catalog[i].code) != i) return false;
  }
  return true;
}
static_assert(catalog_is_ordered(), "error_catalog must list the codes in the order of the enum");

constexpr const ErrorEntry& entry_of(ErrorCode code) { return error_catalog[static_cast<std::size_t>(code)]; }

}  // namespace pixhist
