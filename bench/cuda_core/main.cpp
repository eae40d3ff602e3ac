// bench_cuda_core: table on stdout, each rate beside the copy rate of the same run.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cuda_core/cuda_core_bench.hpp"
#include "core/memory/device_query.hpp"
#include "core/model/device_error.hpp"

#ifndef NDEBUG
#error "benches are built optimised only (preset bench)"
#endif

namespace {

using namespace pixhist;
using namespace pixhist::bench;

/// The named set: every shape, type and distribution of the targets once.
std::vector<CoreCase> core_set() {
  using enum Distribution;
  std::vector<CoreCase> cases;
  for (const auto d : {uniform, pedestal}) {
    for (const FrameShape shape : {FrameShape{400, 400}, {512, 1024}, {1024, 1024}, {2048, 2048}})
      cases.push_back({shape, 1000, 255, PixelType::u16, d});
    cases.push_back({{512, 1024}, 1024, 61, PixelType::u16, d});   // batches of 64 MiB
    cases.push_back({{512, 1024}, 1024, 249, PixelType::u16, d});  // of the default 256 MiB
    cases.push_back({{512, 1024}, 4096, 255, PixelType::u16, d});
    cases.push_back({{2048, 2048}, 4096, 255, PixelType::u16, d});
    cases.push_back({{1024, 1024}, 16384, 255, PixelType::u16, d});
    cases.push_back({{512, 1024}, 256, 255, PixelType::u8, d});
    cases.push_back({{512, 1024}, 1000, 255, PixelType::u32, d});
    cases.push_back({{512, 1024}, 1000, 255, PixelType::f32, d});
  }
  cases.push_back({{512, 1024}, 1000, 255, PixelType::u16, peak});
  cases.push_back({{512, 1024}, 1000, 255, PixelType::u16, same});
  return cases;
}

std::vector<CoreCase> quick_set() {
  using enum Distribution;
  return {{{512, 1024}, 1000, 255, PixelType::u16, uniform},
          {{512, 1024}, 1000, 255, PixelType::u16, pedestal},
          {{512, 1024}, 4096, 255, PixelType::u16, pedestal}};
}

/// The full product; hours on large shapes are avoided by the memory they would not fit into.
std::vector<CoreCase> full_set() {
  std::vector<CoreCase> cases;
  for (const FrameShape shape :
       {FrameShape{64, 64}, {400, 400}, {512, 1024}, {1024, 1024}, {2048, 2048}, {4096, 4096}})
    for (const std::uint32_t bins : {100U, 1000U, 4096U, 16384U})
      for (const auto pixel : {PixelType::u8, PixelType::u16, PixelType::u32, PixelType::f32})
        for (const auto d :
             {Distribution::uniform, Distribution::peak, Distribution::pedestal, Distribution::same})
          cases.push_back({shape, bins, 255, pixel, d});
  return cases;
}

/// From small to large, each against the copies of batches of its own size.
std::vector<CoreCase> growth_set() {
  std::vector<CoreCase> cases;
  const auto add = [&](FrameShape shape, std::uint32_t bins, std::uint32_t frames, std::size_t sources) {
    cases.push_back({shape, bins, frames, PixelType::u16, Distribution::pedestal, sources});
  };
  for (const std::uint32_t bins : {100U, 1000U})
    for (const std::uint32_t side : {64U, 128U, 256U, 512U, 1024U, 2048U, 4096U})
      add({side, side}, bins, side == 4096 ? 127 : 255, 1);
  // Small frames in larger batches: a batch costs a launch, whatever is in it.
  for (const std::uint32_t side : {64U, 128U})
    for (const std::uint32_t bins : {100U, 1000U}) add({side, side}, bins, 2040, 1);
  for (const std::uint32_t bins : {100U, 200U, 500U, 1000U, 2000U, 4096U}) add({512, 1024}, bins, 255, 1);
  for (const std::size_t sources : {1U, 2U, 4U, 8U, 16U}) add({512, 1024}, 1000, 61, sources);
  return cases;
}

/// Where the policy's limits on the frames of a batch come from.
std::vector<CoreCase> batch_set() {
  std::vector<CoreCase> cases;
  for (const auto d : {Distribution::uniform, Distribution::pedestal})
    for (const std::uint32_t bins : {256U, 1000U, 4096U})
      for (const std::uint32_t frames : {1U, 2U, 4U, 8U, 16U, 32U, 61U})
        cases.push_back({{1024, 1024}, bins, frames, PixelType::u16, d});
  return cases;
}

std::string text(FrameShape shape) { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

void run_growth(nlohmann::json& out) {
  std::printf("%-10s %6s %6s %7s | %8s %6s %6s\n", "shape", "bins", "frames", "sources", "pipeline", "H2D",
              "/ H2D");
  for (const auto& c : growth_set()) {
    const CoreRow r = run_core(c, CoreParts::pipeline_only);
    std::printf("%-10s %6u %6u %7zu | %8.1f %6.1f %6.3f\n", text(c.shape).c_str(), c.bins, c.frames,
                c.sources, r.pipeline, r.h2d, r.pipeline / r.h2d);
    std::fflush(stdout);
    out.push_back({{"shape", text(c.shape)},
                   {"bins", c.bins},
                   {"frames", c.frames},
                   {"sources", c.sources},
                   {"h2d_gb_per_s", r.h2d},
                   {"pipeline_gb_per_s", r.pipeline}});
  }
}

void print_heading() {
  std::printf("%-10s %6s %6s %-4s %-14s |", "shape", "bins", "frames", "type", "values");
  for (const auto name : fill_kernel_names) std::printf(" %8s", std::string(name).c_str());
  std::printf(" | %8s %6s %6s  batches by kernel\n", "pipeline", "H2D", "/ H2D");
}

void print_row(const CoreRow& r) {
  const auto& c = r.what;
  std::printf("%-10s %6u %6u %-4s %-14s |", text(c.shape).c_str(), c.bins, c.frames,
              std::string(name_of(c.pixel)).c_str(), std::string(name_of(c.distribution)).c_str());
  for (const double rate : r.kernel) {
    if (rate == 0)
      std::printf(" %8s", "-");
    else
      std::printf(" %8.1f", rate);
  }
  std::printf(" |");
  if (r.pipeline != 0) {
    std::printf(" %8.1f %6.1f %6.3f ", r.pipeline, r.h2d, r.pipeline / r.h2d);
    for (std::size_t k = 0; k < fill_kernel_count; ++k) {
      if (r.batches[k] != 0)
        std::printf(" %s %llu", std::string(fill_kernel_names[k]).c_str(),
                    static_cast<unsigned long long>(r.batches[k]));
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

nlohmann::json json_of(const CoreRow& r) {
  nlohmann::json out{{"shape", text(r.what.shape)},
                     {"bins", r.what.bins},
                     {"frames", r.what.frames},
                     {"type", name_of(r.what.pixel)},
                     {"values", name_of(r.what.distribution)},
                     {"h2d_gb_per_s", r.h2d},
                     {"pipeline_gb_per_s", r.pipeline}};
  for (std::size_t k = 0; k < fill_kernel_count; ++k) {
    out["kernel_gb_per_s"][std::string(fill_kernel_names[k])] = r.kernel[k];
    out["batches"][std::string(fill_kernel_names[k])] = r.batches[k];
  }
  return out;
}

void left_out(const CoreCase& c, const char* why) {
  std::printf("%-10s %6u %6u: left out, %s\n", text(c.shape).c_str(), c.bins, c.frames, why);
}

void run_set(const std::vector<CoreCase>& cases, CoreParts parts, nlohmann::json& out) {
  print_heading();
  for (const auto& c : cases) {
    try {
      const CoreRow row = run_core(c, parts);
      print_row(row);
      out.push_back(json_of(row));
    } catch (const DeviceMemoryError& error) {
      left_out(c, error.what());
    } catch (const std::invalid_argument& error) {  // more than the device has when empty
      left_out(c, error.what());
    }
  }
}

void run_transposes(nlohmann::json& out) {
  std::printf("%-10s %6s %12s %12s %6s\n", "transpose", "bins", "ms", "floor ms", "/floor");
  for (const auto& [shape, bins] : {std::pair{FrameShape{400, 400}, 1000U},
                                    {FrameShape{1024, 1024}, 1000U},
                                    {FrameShape{2048, 2048}, 1000U},
                                    {FrameShape{512, 1024}, 4096U}}) {
    const auto r = run_transpose(shape, bins);
    std::printf("%-10s %6u %12.2f %12.2f %6.2f\n", text(shape).c_str(), bins, r.seconds * 1e3,
                r.floor_seconds * 1e3, r.seconds / r.floor_seconds);
    out.push_back(
        {{"shape", text(shape)}, {"bins", bins}, {"seconds", r.seconds}, {"floor_seconds", r.floor_seconds}});
  }
}

constexpr const char* reduction_name(ReductionKind kind) {
  constexpr const char* names[] = {"spectrum", "sum", "moments", "median", "mode", "max"};
  return names[static_cast<std::size_t>(kind)];
}

void run_reductions(nlohmann::json& out) {
  std::printf("%-10s %6s %-10s %12s %12s %6s\n", "reduction", "bins", "", "ms", "floor ms", "/floor");
  for (const FrameShape shape : {FrameShape{512, 1024}, FrameShape{2048, 2048}}) {
    for (const auto kind : {ReductionKind::spectrum, ReductionKind::sum, ReductionKind::moments,
                            ReductionKind::median, ReductionKind::mode, ReductionKind::max}) {
      const auto r = run_reduce(shape, 1024, kind);
      std::printf("%-10s %6u %-10s %12.2f %12.2f %6.2f\n", text(shape).c_str(), r.bins, reduction_name(kind),
                  r.seconds * 1e3, r.floor_seconds * 1e3, r.seconds / r.floor_seconds);
      out.push_back({{"shape", text(shape)},
                     {"bins", r.bins},
                     {"kind", reduction_name(kind)},
                     {"seconds", r.seconds},
                     {"floor_seconds", r.floor_seconds}});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Core on the device against the copy rate of the same run. Counts are checked after timing."};
  std::string set = "core";
  std::string json_file;
  std::size_t d2h_bytes = 0;
  app.add_option("--set", set,
                 "quick, core, batches (frames per batch, kernels only), growth (sizes and sources) or all")
      ->check(CLI::IsMember({"quick", "core", "batches", "growth", "all"}))
      ->capture_default_str();
  app.add_option("--json", json_file, "write the figures there");
  app.add_option("--d2h", d2h_bytes, "only copy so many bytes from the device, and print the seconds");
  CLI11_PARSE(app, argc, argv);
  const auto cuda = query_cuda_devices();
  if (cuda.devices.empty()) {
    std::fprintf(stderr, "no usable CUDA device: %s\n", cuda.problem.c_str());
    return 3;
  }
  if (d2h_bytes != 0) {
    std::printf("%.9f\n", d2h_seconds(d2h_bytes));
    return 0;
  }
  nlohmann::json out{{"device", cuda.devices.front().name}};
  std::printf("%s; GB/s of frames\n", cuda.devices.front().name.c_str());
  if (set == "batches") {
    run_set(batch_set(), CoreParts::kernels_only, out["batches"]);
  } else if (set == "growth") {
    run_growth(out["growth"]);
  } else {
    run_set(set == "quick" ? quick_set()
            : set == "all" ? full_set()
                           : core_set(),
            CoreParts::everything, out["core"]);
    run_transposes(out["transpose"]);
    run_reductions(out["reductions"]);
  }
  if (!json_file.empty()) std::ofstream(json_file) << out.dump(2) << '\n';
  return 0;
}
