#pragma once
// One device and the streams all work on it goes through. The current device is a property of each thread, so
// whoever calls into the device says use() first.

#include <cstdint>

#include "core/memory/cuda_check.hpp"
#include "core/memory/cuda_objects.hpp"

namespace pixhist {

class CudaDeviceStreams {
 public:
  /// Of what comes and goes in stream order, at most so much stays with the process. On the device, beside
  /// what the memory account holds.
  static constexpr std::uint64_t freed_bytes_kept = std::uint64_t{64} << 20;

  /// Makes `index` current for the calling thread. Throws CudaError.
  explicit CudaDeviceStreams(int index) : index_(index), streams_(make(index)) {}

  int index() const { return index_; }
  void use() const { PIXHIST_CUDA_CHECK(cudaSetDevice(index_)); }

  const CudaStream& copy() const { return streams_.copy; }        // batches, host to device
  const CudaStream& compute() const { return streams_.compute; }  // kernels, memset
  const CudaStream& read() const { return streams_.read; }        // results, device to host

 private:
  struct Streams {
    CudaStream copy;
    CudaStream compute;
    CudaStream read;
  };
  static Streams make(int index) {
    PIXHIST_CUDA_CHECK(cudaSetDevice(index));
    keep_freed_memory(index);
    return {};
  }
  /// Of AsyncBuffers. By default the driver unmaps all of it at the next synchronization, and the next small
  /// read takes longer to get its memory than to be done.
  static void keep_freed_memory(int index) {
    cudaMemPool_t pool = nullptr;
    PIXHIST_CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, index));
    std::uint64_t bytes = freed_bytes_kept;
    PIXHIST_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes));
  }

  const int index_;
  Streams streams_;
};

}  // namespace pixhist
