#pragma once
// Owners of CUDA objects. Move-only; deleters are noexcept and ignore errors. Objects belong to the device
// that was current when they were made. Thread safety: as the CUDA runtime's; an object is used by one
// thread.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/memory/host_memory.hpp"

namespace pixhist {

/// A stream that does not wait for the legacy default stream.
class CudaStream {
 public:
  CudaStream();
  cudaStream_t get() const { return stream_.get(); }
  void synchronize() const;
  /// True if everything enqueued so far is done. Throws if something failed.
  bool idle() const;

 private:
  struct Deleter {
    void operator()(cudaStream_t s) const noexcept { cudaStreamDestroy(s); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Deleter> stream_;
};

enum class EventTiming : bool { off, on };

class CudaEvent {
 public:
  explicit CudaEvent(EventTiming timing = EventTiming::off);
  cudaEvent_t get() const { return event_.get(); }
  void record(const CudaStream& stream) const;
  /// What is enqueued on `stream` from here on waits for the last record; an event never recorded holds
  /// nothing up.
  void hold(const CudaStream& stream) const;
  bool done() const;

 private:
  struct Deleter {
    void operator()(cudaEvent_t e) const noexcept { cudaEventDestroy(e); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Deleter> event_;
};

/// Seconds between two recorded timing events that are both done.
double seconds_between(const CudaEvent& begin, const CudaEvent& end);

/// Device memory for the life of its owner, counted in an account.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Not zeroed. Throws DeviceMemoryError.
  DeviceBuffer(std::size_t bytes, MemoryAccount& account);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  std::size_t size() const { return bytes_; }
  template <class T = std::byte>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  MemoryAccount* account_ = nullptr;
};

/// Device memory in stream order: allocated and freed on `stream`, which outlives it. For what comes and
/// goes.
class AsyncBuffer {
 public:
  /// Throws DeviceMemoryError.
  AsyncBuffer(std::size_t bytes, const CudaStream& stream);
  AsyncBuffer(AsyncBuffer&& other) noexcept;
  AsyncBuffer& operator=(AsyncBuffer&&) = delete;  // bound to its stream
  ~AsyncBuffer();

  template <class T = std::byte>
  T* data() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Page-locks memory that somebody else owns, until released or destroyed.
class HostRegistration {
 public:
  HostRegistration() = default;
  /// Throws CudaError.
  explicit HostRegistration(std::span<const std::byte> bytes);
  HostRegistration(HostRegistration&& other) noexcept;
  HostRegistration& operator=(HostRegistration&& other) noexcept;
  ~HostRegistration() { release(); }

 private:
  /// Lets go of its pointer first, so that a failure is not tried again.
  void release() noexcept;
  void* data_ = nullptr;
};

/// Page-locked host memory, straight reachable for the copy engine.
class PinnedMemory final : public HostMemory {
 public:
  /// For use with device `device`; reachable from all.
  PinnedMemory(MemoryAccount& account, int device) : account_(account), device_(device) {}
  /// Throws PinningRefused naming the memory-lock limit and what to do.
  HostBlock allocate(std::size_t bytes, Paging paging) override;
  MemoryKind kind() const override { return MemoryKind::pinned; }

 private:
  void release(std::span<std::byte> bytes) noexcept override;
  MemoryAccount& account_;
  const int device_;
};

}  // namespace pixhist
