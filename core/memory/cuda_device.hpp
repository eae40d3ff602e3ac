#pragma once
// One device and the streams all work on it goes through. The current device is a property of each thread, so
// whoever calls into the device says use() first.

#include "core/memory/cuda_check.hpp"
#include "core/memory/cuda_objects.hpp"

namespace pixhist {

class CudaDeviceStreams {
 public:
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
    return {};
  }

  const int index_;
  Streams streams_;
};

}  // namespace pixhist
