#include "core/memory/cuda_objects.hpp"

#include <sys/resource.h>

#include <cstring>
#include <utility>

#include "core/memory/cuda_check.hpp"

namespace pixhist {
namespace {

std::size_t free_device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

/// A failed allocation is no fault of the device: clears the error and says how much there is.
[[noreturn]] void throw_no_memory(std::size_t bytes) {
  cudaGetLastError();
  throw DeviceMemoryError(bytes, free_device_memory());
}

std::string memory_lock_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
}

}  // namespace

CudaStream::CudaStream() {
  cudaStream_t stream = nullptr;
  PIXHIST_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_.reset(stream);
}

void CudaStream::synchronize() const { PIXHIST_CUDA_CHECK(cudaStreamSynchronize(get())); }

bool CudaStream::idle() const {
  const cudaError_t state = cudaStreamQuery(get());
  if (state == cudaErrorNotReady) return false;
  PIXHIST_CUDA_CHECK(state);
  return true;
}

CudaEvent::CudaEvent(EventTiming timing) {
  cudaEvent_t event = nullptr;
  PIXHIST_CUDA_CHECK(cudaEventCreateWithFlags(
      &event, timing == EventTiming::on ? cudaEventDefault : cudaEventDisableTiming));
  event_.reset(event);
}

void CudaEvent::record(const CudaStream& stream) const {
  PIXHIST_CUDA_CHECK(cudaEventRecord(get(), stream.get()));
}

void CudaEvent::hold(const CudaStream& stream) const {
  PIXHIST_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), get(), 0));
}

bool CudaEvent::done() const {
  const cudaError_t state = cudaEventQuery(get());
  if (state == cudaErrorNotReady) return false;
  PIXHIST_CUDA_CHECK(state);
  return true;
}

double seconds_between(const CudaEvent& begin, const CudaEvent& end) {
  float ms = 0;
  PIXHIST_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
  return static_cast<double>(ms) * 1e-3;
}

DeviceBuffer::DeviceBuffer(std::size_t bytes, MemoryAccount& account) : bytes_(bytes), account_(&account) {
  const cudaError_t code = cudaMalloc(&data_, bytes);
  if (code == cudaErrorMemoryAllocation) throw_no_memory(bytes);
  PIXHIST_CUDA_CHECK(code);
  account.add(MemoryKind::device, bytes);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      account_(std::exchange(other.account_, nullptr)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(account_, other.account_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  cudaFree(data_);
  account_->remove(MemoryKind::device, bytes_);
}

AsyncBuffer::AsyncBuffer(std::size_t bytes, const CudaStream& stream) : stream_(stream.get()) {
  const cudaError_t code = cudaMallocAsync(&data_, bytes, stream_);
  if (code == cudaErrorMemoryAllocation) throw_no_memory(bytes);
  PIXHIST_CUDA_CHECK(code);
}

AsyncBuffer::AsyncBuffer(AsyncBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}

AsyncBuffer::~AsyncBuffer() {
  if (data_ != nullptr) cudaFreeAsync(data_, stream_);
}

HostRegistration::HostRegistration(std::span<const std::byte> bytes) {
  // Registering does not write; the runtime's interface has no const.
  void* data = const_cast<std::byte*>(bytes.data());
  PIXHIST_CUDA_CHECK(cudaHostRegister(data, bytes.size(), cudaHostRegisterDefault));
  data_ = data;
}

HostRegistration::HostRegistration(HostRegistration&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)) {}

HostRegistration& HostRegistration::operator=(HostRegistration&& other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}

void HostRegistration::release() noexcept {
  if (void* data = std::exchange(data_, nullptr)) cudaHostUnregister(data);
}

HostBlock PinnedMemory::allocate(std::size_t bytes, Paging) {
  if (bytes == 0) return {};
  void* data = nullptr;
  PIXHIST_CUDA_CHECK(cudaSetDevice(device_));  // else the calling thread would open a context on device 0
  const cudaError_t code = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw PinningRefused(
        "cannot page-lock " + std::to_string(bytes) + " bytes of host memory (" + cudaGetErrorName(code) +
        "; memory-lock limit: " + memory_lock_limit() +
        "). Raise it (ulimit -l, LimitMEMLOCK=infinity in systemd or in the container runtime's unit), "
        "raise the container's memory limit, or lower ring.bytes.");
  }
  std::memset(data, 0, bytes);
  account_.add(MemoryKind::pinned, bytes);
  return {*this, {static_cast<std::byte*>(data), bytes}};
}

void PinnedMemory::release(std::span<std::byte> bytes) noexcept {
  cudaFreeHost(bytes.data());
  account_.remove(MemoryKind::pinned, bytes.size());
}

}  // namespace pixhist
