#pragma once
// A kernel that does nothing but take time.

#include <cuda_runtime_api.h>

namespace pixhist::test {

/// Keeps `stream` busy for about `cycles` of the device's clock.
void spin(cudaStream_t stream, long long cycles);

/// Writes where there is no memory: every call after it fails.
void break_device(cudaStream_t stream);

}  // namespace pixhist::test
