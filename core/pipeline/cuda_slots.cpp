#include "core/pipeline/cuda_slots.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace pixhist {

CudaSlots::CudaSlots(const CudaDeviceStreams& device, std::size_t slot_bytes, std::uint32_t max_frames,
                     MemoryAccount& account, SlotReuse reuse)
    : device_(device), max_frames_(max_frames), reuse_(reuse), pinned_(account, device.index()) {
  device_.use();
  for (auto& slot : slots_) {
    slot.bytes = DeviceBuffer(slot_bytes, account);
    slot.frames = DeviceBuffer(max_frames * sizeof(FrameEntry), account);
    slot.frame_ok = DeviceBuffer(max_frames, account);
    slot.frames_on_host = pinned_.allocate(max_frames * sizeof(FrameEntry), Paging::populate);
    slot.frame_ok_on_host = pinned_.allocate(max_frames, Paging::populate);
  }
}

DecodedBatch CudaSlots::begin(std::uint64_t index, std::span<const std::byte> bytes,
                              const DecodedBatch& table) {
  Slot& s = slot(index);
  begin_copy(s, bytes);
  end_copy(s);
  DecodedBatch batch = table;
  batch.pixels = s.bytes.data();
  return batch;
}

DecodedBatch CudaSlots::begin_with_table(std::uint64_t index, std::span<const std::byte> bytes,
                                         std::span<const FrameEntry> frames,
                                         std::span<const std::uint8_t> frame_ok) {
  Slot& s = slot(index);
  if (frames.size() > max_frames_ || frames.size() != frame_ok.size())
    throw std::logic_error("a batch of " + std::to_string(frames.size()) + " frames in a slot for " +
                           std::to_string(max_frames_));
  std::memcpy(s.frames_on_host.data(), frames.data(), frames.size_bytes());
  std::memcpy(s.frame_ok_on_host.data(), frame_ok.data(), frame_ok.size());
  begin_copy(s, bytes);
  const auto stream = device_.copy().get();
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(s.frames.data(), s.frames_on_host.data(), frames.size_bytes(),
                                     cudaMemcpyHostToDevice, stream));
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(s.frame_ok.data(), s.frame_ok_on_host.data(), frame_ok.size(),
                                     cudaMemcpyHostToDevice, stream));
  end_copy(s);
  DecodedBatch batch;
  batch.pixels = s.bytes.data();
  batch.frames = {s.frames.data<const FrameEntry>(), frames.size()};
  batch.frame_ok = {s.frame_ok.data<const std::uint8_t>(), frame_ok.size()};
  for (const auto ok : frame_ok) batch.good_frames += ok != 0 ? 1U : 0U;
  return batch;
}

void CudaSlots::begin_copy(Slot& s, std::span<const std::byte> bytes) {
  device_.use();
  if (bytes.size() > s.bytes.size())
    throw std::logic_error("a batch of " + std::to_string(bytes.size()) + " bytes in a slot of " +
                           std::to_string(s.bytes.size()));
  if (reuse_ == SlotReuse::wait_for_kernels) s.kernel_done.hold(device_.copy());
  s.copy_begin_time.record(device_.copy());
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(s.bytes.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice,
                                     device_.copy().get()));
}

void CudaSlots::end_copy(Slot& s) {
  s.copy_end_time.record(device_.copy());
  s.copy_done.record(device_.copy());
  s.copy_done.hold(device_.compute());
  s.kernel_begin_time.record(device_.compute());
}

void CudaSlots::end(std::uint64_t index) {
  Slot& s = slot(index);
  s.kernel_end_time.record(device_.compute());
  s.kernel_done.record(device_.compute());
}

double CudaSlots::copy_seconds(std::uint64_t index) const {
  return seconds_between(slot(index).copy_begin_time, slot(index).copy_end_time);
}

double CudaSlots::kernel_seconds(std::uint64_t index) const {
  return seconds_between(slot(index).kernel_begin_time, slot(index).kernel_end_time);
}

double CudaSlots::overlap_seconds(std::uint64_t earlier, std::uint64_t later) const {
  const double until_kernels_end =
      seconds_between(slot(later).copy_begin_time, slot(earlier).kernel_end_time);
  const double until_copy_ends = seconds_between(slot(earlier).kernel_begin_time, slot(later).copy_end_time);
  return std::min({until_kernels_end, until_copy_ends, copy_seconds(later), kernel_seconds(earlier)});
}

}  // namespace pixhist
