#pragma once
// How decoders word a rejection: printable, at most 300 bytes, shapes and keys alike in every format.

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/model/geometry.hpp"
#include "proto/ingest/frame_decoder.hpp"

namespace pixhist {

Rejection reject(RejectReason reason, std::string_view message);

/// "[rows, cols]", in numbers.
std::string shown(FrameShape shape);

inline std::string_view text_of(MessagePart part) {
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

/// The fault that a header notes for the first of `keys` that has one; empty: none has.
template <typename Header, typename Key>
std::string_view first_fault(const Header& header, std::initializer_list<Key> keys) {
  for (const auto key : keys) {
    if (!header.fault_of(key).empty()) return header.fault_of(key);
  }
  return {};
}

}  // namespace pixhist
