#pragma once
// Where the request stands in the parts a ROUTER socket hands over, and what must be sent before the reply.

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "proto/error_catalog.hpp"

namespace pixhist {

/// The envelope is all parts up to and including the first empty one, else none; it is echoed as it came.
/// REQ sends [""][json], REQ_CORRELATE [4 bytes][""][json], DEALER what its user likes.
struct Envelope {
  std::size_t parts = 0;               // how many parts to echo, also before an error
  std::optional<std::size_t> request;  // index of the one part behind it
  std::string fault;                   // without a request: why; answered as ErrorCode::bad_request
};

/// `parts`: those behind the identity. Never throws for any parts.
Envelope split_envelope(std::span<const std::span<const std::byte>> parts);

}  // namespace pixhist
