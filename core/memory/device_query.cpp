#include "core/memory/device_query.hpp"

#if PIXHIST_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace pixhist {

#if PIXHIST_HAVE_CUDA

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

CudaQuery query_cuda_devices() {
  CudaQuery query;
  query.built = true;
  int driver = 0;
  cudaDriverGetVersion(&driver);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    query.problem = error == cudaSuccess
                        ? "the driver reports 0 devices"
                        : std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
    query.problem +=
        driver == 0 ? " (no CUDA driver found)" : " (driver supports CUDA " + version_text(driver) + ")";
    return query;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    query.devices.push_back(
        {i, properties.name, properties.major, properties.minor, properties.totalGlobalMem});
  }
  if (query.devices.empty()) query.problem = "no device answers";
  return query;
}

std::string cuda_build_text() { return "built with CUDA " + version_text(CUDART_VERSION); }

#else

CudaQuery query_cuda_devices() { return {false, {}, "this pixhist was built without CUDA"}; }

std::string cuda_build_text() { return "built without CUDA"; }

#endif

}  // namespace pixhist
