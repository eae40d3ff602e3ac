// bench_cuda_core [--json FILE]: table on stdout, each rate beside the copy rate of the same run.

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cuda_core/cuda_core_bench.hpp"
#include "core/memory/device_query.hpp"

#ifndef NDEBUG
#error "benches are built optimised only (preset bench)"
#endif

namespace {

using namespace pixhist;
using namespace pixhist::bench;

std::vector<CoreCase> core_set() {
  std::vector<CoreCase> cases;
  for (const auto d : {Distribution::uniform, Distribution::pedestal}) {
    cases.push_back({{400, 400}, 1000, 255, d});
    cases.push_back({{512, 1024}, 1000, 255, d});
    cases.push_back({{512, 1024}, 1000, 61, d});  // the service's default batch of 64 MiB
    cases.push_back({{1024, 1024}, 1000, 255, d});
    cases.push_back({{2048, 2048}, 1000, 128, d});
    cases.push_back({{512, 1024}, 2048, 255, d});
    cases.push_back({{512, 1024}, 4096, 255, d});
  }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const auto cuda = query_cuda_devices();
  if (cuda.devices.empty()) {
    std::fprintf(stderr, "no usable CUDA device: %s\n", cuda.problem.c_str());
    return 3;
  }
  const double h2d = h2d_gigabytes_per_s();
  nlohmann::json out{{"device", cuda.devices.front().name}, {"h2d_gb_per_s", h2d}};
  std::printf("%s, pinned H2D %.1f GB/s; u16 frames\n", cuda.devices.front().name.c_str(), h2d);
  std::printf("%-12s %5s %6s %-14s %-6s %8s %8s %9s %6s\n", "shape", "bins", "frames", "values", "kernel",
              "copy", "kernel", "pipeline", "/ H2D");
  for (const auto& c : core_set()) {
    for (const auto& r : run_core(c)) {
      const std::string shape = std::to_string(c.shape.rows) + "x" + std::to_string(c.shape.cols);
      std::printf("%-12s %5u %6u %-14s %-6s %8.1f %8.1f %9.1f %6.3f%s\n", shape.c_str(), c.bins, c.frames,
                  std::string(name_of(c.distribution)).c_str(), std::string(name_of(r.kernel)).c_str(),
                  r.copy_gigabytes_per_s, r.kernel_gigabytes_per_s, r.pipeline_gigabytes_per_s,
                  r.pipeline_gigabytes_per_s / h2d, r.chosen ? "  <- chosen" : "");
      std::fflush(stdout);
      out["core"].push_back({{"shape", shape},
                             {"bins", c.bins},
                             {"frames", c.frames},
                             {"values", name_of(c.distribution)},
                             {"kernel", name_of(r.kernel)},
                             {"copy_gb_per_s", r.copy_gigabytes_per_s},
                             {"kernel_gb_per_s", r.kernel_gigabytes_per_s},
                             {"pipeline_gb_per_s", r.pipeline_gigabytes_per_s},
                             {"chosen", r.chosen}});
    }
  }
  std::printf("%-12s %5s %12s %12s %6s\n", "transpose", "bins", "ms", "floor ms", "/floor");
  for (const auto& [shape, bins] : {std::pair{FrameShape{400, 400}, 1000U},
                                    {FrameShape{1024, 1024}, 1000U},
                                    {FrameShape{2048, 2048}, 1000U}}) {
    const auto r = run_transpose(shape, bins);
    std::printf("%ux%-8u %5u %12.2f %12.2f %6.2f\n", shape.rows, shape.cols, bins, r.seconds * 1e3,
                r.floor_seconds * 1e3, r.seconds / r.floor_seconds);
    out["transpose"].push_back({{"rows", shape.rows},
                                {"cols", shape.cols},
                                {"bins", bins},
                                {"seconds", r.seconds},
                                {"floor_seconds", r.floor_seconds}});
  }
  if (argc == 3 && std::string(argv[1]) == "--json") std::ofstream(argv[2]) << out.dump(2) << '\n';
  return 0;
}
