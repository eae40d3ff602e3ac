#pragma once
// What becomes of a batch of bodies: nothing, a look at each page, or a copy to the device.
// Used by one thread.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace pixhist::bench {

/// Bytes that lie together: a batch out of a ring is one piece, one of message bodies has a piece a body.
using Piece = std::span<const std::byte>;

class DeviceCopy {
 public:
  virtual ~DeviceCopy() = default;
  /// Takes the batch into `slot`, 0 or 1, whose last one is done. The bytes must stay until this one is, too.
  virtual void submit(std::size_t slot, std::span<const Piece> pieces) = 0;
  virtual bool done(std::size_t slot) = 0;
};

/// `kind`: none, touch, or with a device copy (one copy a piece) and grouped (one call for all pieces). A
/// batch has at most `batch_bytes`. Throws std::invalid_argument for a kind that this build has not.
std::unique_ptr<DeviceCopy> make_device_copy(const std::string& kind, std::size_t batch_bytes);

}  // namespace pixhist::bench
