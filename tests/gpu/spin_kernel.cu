#include "tests/gpu/spin_kernel.hpp"

namespace pixhist::test {
namespace {

__global__ void spin_kernel(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

__global__ void wild_write(int* nowhere) { *nowhere = 1; }

}  // namespace

void break_device(cudaStream_t stream) { wild_write<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(16)); }

void spin(cudaStream_t stream, long long cycles) { spin_kernel<<<1, 1, 0, stream>>>(cycles); }

}  // namespace pixhist::test
