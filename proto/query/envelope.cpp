#include "proto/query/envelope.hpp"

namespace pixhist {

Envelope split_envelope(std::span<const std::span<const std::byte>> parts) {
  Envelope envelope;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].empty()) continue;
    envelope.parts = i + 1;
    break;
  }
  const auto rest = parts.size() - envelope.parts;
  if (rest == 1) {
    envelope.request = envelope.parts;
  } else {
    envelope.fault =
        std::to_string(rest) +
        " parts behind the envelope; a request is exactly one part, and an envelope ends with the "
        "first empty part";
  }
  return envelope;
}

}  // namespace pixhist
