#pragma once
// From batches in the ring to accumulators: copy, decode, accumulate. One consumer: the submit thread.
// The same calls, order rules and refusals on every device; the CPU twin may finish inside try_submit but
// reports through progress() all the same, so its caller has no branch on the kind of device.

#include <cstddef>
#include <cstdint>

#include "core/batch/batch.hpp"
#include "core/model/device_error.hpp"

namespace pixhist {

/// Batches are numbered from 1 in the order they were taken, over all sources.
using Ticket = std::uint64_t;

/// What one batch took. copy: 0 where nothing is copied.
struct BatchSeconds {
  double copy = 0;
  double kernel = 0;
};

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
  /// What batch `ticket` took; asked like bad_frames().
  virtual BatchSeconds seconds(Ticket ticket) = 0;
  /// Waits until everything submitted is accumulated.
  virtual void drain() = 0;
  /// True while the device answers a cheap call.
  virtual bool healthy() = 0;
};

}  // namespace pixhist
