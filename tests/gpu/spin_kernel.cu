#include "tests/gpu/spin_kernel.hpp"

namespace pixhist::test {
namespace {

__global__ void spin_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

}  // namespace

void spin(cudaStream_t stream, long long cycles) { spin_kernel<<<1, 1, 0, stream>>>(cycles); }

}  // namespace pixhist::test
