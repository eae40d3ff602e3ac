#pragma once
// From batches in the ring to accumulators: copy, decode, accumulate. One consumer: the submit thread.
// The same calls, order rules and refusals on every device; the CPU twin may finish inside try_submit but
// reports through progress() all the same, so its caller has no branch on the kind of device.

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "core/batch/batch.hpp"

namespace pixhist {

/// The device failed. Sticky: nothing on it can be trusted from here on.
class DeviceLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Batches are numbered from 1 in the order they were taken, over all sources.
using Ticket = std::uint64_t;

/// Monotonic. copied: the ring bytes of all batches up to here are no longer needed. accumulated: their
/// frames are in the counts. accumulated <= copied.
struct PipelineProgress {
  Ticket copied = 0;
  Ticket accumulated = 0;
};

class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// Batches that may be submitted and unfinished at once (one per slot).
  virtual std::size_t slots() const = 0;
  /// Takes the batch and returns true, or leaves it untouched and returns false while all slots are busy.
  /// Never waits for a device. The batch's bytes stay valid until progress().copied reaches its ticket.
  /// Errors of the device throw DeviceLost and are sticky.
  virtual bool try_submit(Batch& batch) = 0;
  virtual PipelineProgress progress() = 0;
  /// Frames of batch `ticket` (accumulated, and asked in order) that the decode stage found bad.
  virtual std::uint64_t bad_frames(Ticket ticket) = 0;
  /// Waits until everything submitted is accumulated.
  virtual void drain() = 0;
  /// True while the device answers a cheap call.
  virtual bool healthy() = 0;
};

}  // namespace pixhist
