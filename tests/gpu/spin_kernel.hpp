#pragma once
// A kernel that does nothing but take time.

#include <cuda_runtime_api.h>

namespace pixhist::test {

/// Keeps `stream` busy for about `cycles` of the device's clock.
void spin(cudaStream_t stream, long long cycles);

}  // namespace pixhist::test
