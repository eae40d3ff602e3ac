#include "proto/ingest/rejection.hpp"

#include "proto/text.hpp"

namespace pixhist {

Rejection reject(RejectReason reason, std::string_view message) {
  constexpr std::size_t max_message_bytes = 300;
  return {reason, printable(message, max_message_bytes)};
}

std::string shown(FrameShape shape) {
  return '[' + std::to_string(shape.rows) + ", " + std::to_string(shape.cols) + ']';
}

}  // namespace pixhist
