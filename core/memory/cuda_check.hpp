#pragma once
// The one check of CUDA calls. Throwing, for everything but destructors.

#include <cuda_runtime_api.h>

#include "core/model/device_error.hpp"

namespace pixhist {

/// A CUDA call failed. After start it is sticky: nothing on the device can be trusted from here on.
class CudaError : public DeviceLost {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line);
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

inline void check_cuda(cudaError_t code, const char* call, const char* file, int line) {
  if (code != cudaSuccess) throw CudaError(code, call, file, line);
}

}  // namespace pixhist

#define PIXHIST_CUDA_CHECK(call) ::pixhist::check_cuda((call), #call, __FILE__, __LINE__)
