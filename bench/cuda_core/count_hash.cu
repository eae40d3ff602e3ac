#include "bench/cuda_core/count_hash.hpp"
#include "core/memory/cuda_check.hpp"

namespace pixhist::bench {
namespace {

/// Finalizer of splitmix64.
__device__ unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

__global__ void hash_counts(const std::uint32_t* counts, std::size_t cells, unsigned long long* hash) {
  unsigned long long sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < cells; i += step)
    sum += mix(mix(i) + counts[i]);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xFFFFFFFFU, sum, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(hash, sum);
}

}  // namespace

void launch_count_hash(const std::uint32_t* counts, std::size_t cells, unsigned long long* hash,
                       cudaStream_t stream) {
  hash_counts<<<2048, 256, 0, stream>>>(counts, cells, hash);
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

}  // namespace pixhist::bench
