// Main of test programs that need a CUDA device: where there is none they say so and skip.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "core/memory/device_query.hpp"

int main(int argc, char** argv) {
  constexpr int skipped = 77;  // SKIP_RETURN_CODE of the ctest
  const auto cuda = pixhist::query_cuda_devices();
  if (cuda.devices.empty()) {
    std::printf("SKIPPED: no usable CUDA device: %s\n", cuda.problem.c_str());
    return skipped;
  }
  std::printf("on %s\n", cuda.devices.front().name.c_str());
  return doctest::Context(argc, argv).run();
}
