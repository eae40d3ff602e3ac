#pragma once
// Two device buffers that batches take in turn, so that the copy of one overlaps the kernels of the other:
//   batch i -> slot i mod 2: copy stream waits kernel_done[slot], copies, records copy_done[slot];
//   compute stream waits copy_done[slot], runs the kernels, records kernel_done[slot].
// The host waits for nothing. In the first round the waits are on events never recorded and hold nothing up.
// Used by one thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/accumulators/accumulator.hpp"
#include "core/memory/cuda_device.hpp"

namespace pixhist {

inline constexpr std::size_t cuda_slot_count = 2;

/// race: the copy does not wait for the kernels that still read the slot. Wrong; it exists so that a test can
/// show that the tests would see it.
enum class SlotReuse : std::uint8_t { wait_for_kernels, race };

class CudaSlots {
 public:
  /// Each slot holds slot_bytes of frames and a table of max_frames. Throws DeviceMemoryError,
  /// PinningRefused.
  CudaSlots(const CudaDeviceStreams& device, std::size_t slot_bytes, std::uint32_t max_frames,
            MemoryAccount& account, SlotReuse reuse = SlotReuse::wait_for_kernels);

  /// Enqueues the copy of `bytes` into the slot of batch `index` and makes the compute stream wait for it.
  /// Returns the batch as kernels see it. `bytes` stays unchanged until copied(index). With a table that is
  /// the same for all batches (device memory) nothing else is copied.
  DecodedBatch begin(std::uint64_t index, std::span<const std::byte> bytes, const DecodedBatch& table);
  /// The same with the batch's own table, in host memory. The slot must be free (accumulated(index - 2)): its
  /// host copy of the table is written at once.
  DecodedBatch begin_with_table(std::uint64_t index, std::span<const std::byte> bytes,
                                std::span<const FrameEntry> frames, std::span<const std::uint8_t> frame_ok);
  /// After the kernels of batch `index` are enqueued.
  void end(std::uint64_t index);

  bool copied(std::uint64_t index) const { return slot(index).copy_done.done(); }
  bool accumulated(std::uint64_t index) const { return slot(index).kernel_done.done(); }
  /// Of an accumulated batch whose slot has not been taken again.
  double copy_seconds(std::uint64_t index) const;
  double kernel_seconds(std::uint64_t index) const;
  /// For how long the copy of `later` and the kernels of `earlier` ran at the same time, by the device's
  /// clock; negative if one had ended before the other began. Two accumulated batches in different slots.
  double overlap_seconds(std::uint64_t earlier, std::uint64_t later) const;

  std::size_t slot_bytes() const { return slots_[0].bytes.size(); }
  std::uint32_t max_frames() const { return max_frames_; }

 private:
  struct Slot {
    DeviceBuffer bytes;
    DeviceBuffer frames;
    DeviceBuffer frame_ok;
    HostBlock frames_on_host;  // pinned: copied from while the host goes on
    HostBlock frame_ok_on_host;
    CudaEvent copy_done;
    CudaEvent kernel_done;
    CudaEvent copy_begin_time{EventTiming::on};
    CudaEvent copy_end_time{EventTiming::on};
    CudaEvent kernel_begin_time{EventTiming::on};
    CudaEvent kernel_end_time{EventTiming::on};
  };

  Slot& slot(std::uint64_t index) { return slots_[index % cuda_slot_count]; }
  const Slot& slot(std::uint64_t index) const { return slots_[index % cuda_slot_count]; }
  void begin_copy(Slot& slot, std::span<const std::byte> bytes);
  void end_copy(Slot& slot);

  const CudaDeviceStreams& device_;
  const std::uint32_t max_frames_;
  const SlotReuse reuse_;
  PinnedMemory pinned_;
  std::array<Slot, cuda_slot_count> slots_;
};

}  // namespace pixhist
