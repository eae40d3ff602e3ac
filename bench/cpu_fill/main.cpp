// bench_cpu_fill: ns per pixel value of the CPU twin.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/cpu_fill/cpu_fill_bench.hpp"
#include "core/threads/worker_pool.hpp"

#if !defined(NDEBUG) || !defined(__OPTIMIZE__)
#error "a bench needs an optimised build without assertions: cmake --preset bench"
#endif

using namespace pixhist;
using namespace pixhist::bench;

namespace {

void print(const Settings& s, const std::vector<Row>& rows, double memcpy_rate) {
  std::printf("%u x %u pixels, %u bins, batches of %u frames; median of %u; memcpy, 1 thread: %.1f GB/s\n\n",
              s.shape.rows, s.shape.cols, s.bins, s.frames, s.repeats, memcpy_rate);
  std::printf("| pixel | values | threads | ns/value (median) | best | GB/s of frames |\n");
  std::printf("| --- | --- | --- | --- | --- | --- |\n");
  for (const Row& r : rows) {
    std::printf("| %s | %s | %u | %.2f | %.2f | %.2f |\n", r.pixel.c_str(),
                std::string(name_of(r.distribution)).c_str(), r.threads, r.ns_per_value, r.best_ns_per_value,
                r.gigabytes_per_s);
  }
}

nlohmann::json as_json(const Settings& s, const std::vector<Row>& rows, double memcpy_rate) {
  nlohmann::json out = {{"bench", "cpu_fill"},
                        {"version", PIXHIST_VERSION},
                        {"rows", s.shape.rows},
                        {"cols", s.shape.cols},
                        {"bins", s.bins},
                        {"frames", s.frames},
                        {"repeats", s.repeats},
                        {"memcpy_gb_per_s", memcpy_rate},
                        {"usable_cpus", usable_cpus()}};
  out["results"] = nlohmann::json::array();
  for (const Row& r : rows) {
    out["results"].push_back({{"pixel", r.pixel},
                              {"values", name_of(r.distribution)},
                              {"threads", r.threads},
                              {"ns_per_value", r.ns_per_value},
                              {"best_ns_per_value", r.best_ns_per_value},
                              {"gb_per_s", r.gigabytes_per_s}});
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::string json_file;
  CLI::App app{"Time of the CPU twin per pixel value, random frames, counts checked"};
  app.add_option("--rows", settings.shape.rows, "rows of a frame")->check(CLI::PositiveNumber);
  app.add_option("--cols", settings.shape.cols, "columns of a frame")->check(CLI::PositiveNumber);
  app.add_option("--bins", settings.bins, "bins, a power of two")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096, 16384}));
  app.add_option("--frames", settings.frames, "frames of a batch")->check(CLI::PositiveNumber);
  app.add_option("--repeats", settings.repeats, "timed batches")->check(CLI::Range(5, 1000));
  app.add_option("--threads", settings.threads, "numbers of threads (default: 1 and all)");
  app.add_option("--json", json_file, "write the results to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    if (settings.threads.empty()) {
      settings.threads = {1};
      if (usable_cpus() > 1) settings.threads.push_back(usable_cpus());
    }
    settings.shape = fitting_shape(settings);
    const double memcpy_rate = memcpy_gigabytes_per_s(settings.repeats);
    const auto rows = run(settings);
    print(settings, rows, memcpy_rate);
    if (!json_file.empty()) {
      std::ofstream file(json_file);
      file << as_json(settings, rows, memcpy_rate).dump(2) << '\n';
      if (!file.flush()) throw std::runtime_error("cannot write " + json_file);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cpu_fill: %s\n", error.what());
    return 1;
  }
  return 0;
}
