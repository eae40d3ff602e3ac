#include "core/memory/cuda_check.hpp"

#include <string>

namespace pixhist {

CudaError::CudaError(cudaError_t code, const char* call, const char* file, int line)
    : DeviceLost(std::string(cudaGetErrorName(code)) + " (" + cudaGetErrorString(code) + ") from " + call +
                 " at " + file + ":" + std::to_string(line)),
      code_(code) {}

}  // namespace pixhist
