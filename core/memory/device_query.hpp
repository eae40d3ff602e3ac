#pragma once
// Which CUDA devices there are, and if none: why. Works in a build without CUDA too (then it says so).

#include <cstddef>
#include <string>
#include <vector>

namespace pixhist {

struct CudaDevice {
  int index = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  std::size_t memory_bytes = 0;
};

struct CudaQuery {
  bool built = false;  // this binary has the CUDA twin
  std::vector<CudaDevice> devices;
  std::string problem;  // empty if devices were found; else what was found instead
};

/// Asks the driver. Never throws; may take a second on the first call.
CudaQuery query_cuda_devices();

/// "built with CUDA 13.0" or "built without CUDA".
std::string cuda_build_text();

}  // namespace pixhist
