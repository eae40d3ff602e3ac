// bench_peer_boost: the same frames through Boost.Histogram with thread-safe storage, a pixel axis times a
// value axis, filled in whole rows of pixels by as many threads as asked for. Also writes the frames for the
// peers that are not C++.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "bench/frames/frames.hpp"

#if !defined(NDEBUG) || !defined(__OPTIMIZE__)
#error "a bench needs an optimised build without assertions: cmake --preset bench"
#endif

#if PIXHIST_HAVE_BOOST_HISTOGRAM
#include <array>
#include <boost/histogram.hpp>
#include <boost/variant2/variant.hpp>
#include <span>
#endif

using namespace pixhist;
using namespace pixhist::bench;

namespace {

struct Settings {
  FrameShape shape{512, 1024};
  std::uint32_t bins = 1024;
  std::uint32_t frames = 64;
  unsigned repeats = 5;
  std::vector<unsigned> threads{1};
};

void write_frames(const std::string& folder, Distribution d, const std::vector<std::uint16_t>& adc) {
  const std::string name = folder + "/" + std::string(name_of(d)) + ".u16";
  std::ofstream file(name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(adc.data()),
             static_cast<std::streamsize>(adc.size() * sizeof(std::uint16_t)));
  if (!file.flush()) throw std::runtime_error("cannot write " + name);
}

#if PIXHIST_HAVE_BOOST_HISTOGRAM
namespace bh = boost::histogram;

/// ns per value, median over the repeats. Throws std::runtime_error if the sum of all counts is wrong.
double time_fill(const Settings& s, const std::vector<double>& frames, unsigned threads) {
  const std::size_t pixels = s.shape.pixels();
  using Storage = bh::dense_storage<bh::accumulators::thread_safe<std::uint32_t>>;
  auto histogram = bh::make_histogram_with(
      Storage(),
      bh::axis::integer<int, bh::use_default, bh::axis::option::none_t>(0, static_cast<int>(pixels)),
      bh::axis::regular<>(s.bins, 0.0, 16384.0));
  std::vector<int> pixel_index(pixels);
  for (std::size_t p = 0; p < pixels; ++p) pixel_index[p] = static_cast<int>(p);

  // Threads share out the pixels, not the frames: no two write to the same cells' cache lines for long.
  const auto fill_share = [&](unsigned t) {
    const std::size_t begin = pixels * t / threads;
    const std::size_t n = pixels * (t + 1) / threads - begin;
    for (std::uint32_t f = 0; f < s.frames; ++f) {
      using Column = boost::variant2::variant<std::span<const int>, std::span<const double>>;
      const std::array<Column, 2> columns{std::span<const int>(pixel_index.data() + begin, n),
                                          std::span<const double>(frames.data() + f * pixels + begin, n)};
      histogram.fill(columns);
    }
  };
  std::vector<double> times;
  for (unsigned i = 0; i <= s.repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t) workers.emplace_back(fill_share, t);
    for (auto& worker : workers) worker.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(took.count());
  }
  std::uint64_t sum = 0;
  for (const auto& cell : histogram) sum += static_cast<std::uint32_t>(cell);
  if (sum != std::uint64_t{s.repeats + 1} * frames.size())
    throw std::runtime_error("Boost.Histogram lost values");
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1e9 / static_cast<double>(frames.size());
}
#endif

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  std::string folder;
  std::string json_file;
  CLI::App app{"Boost.Histogram on the frames of bench_cpu_fill"};
  app.add_option("--rows", s.shape.rows)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--cols", s.shape.cols)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--bins", s.bins)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--frames", s.frames)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--repeats", s.repeats)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--threads", s.threads, "numbers of threads")->check(CLI::PositiveNumber);
  app.add_option("--write-frames", folder, "also write <folder>/<values>.u16");
  app.add_option("--json", json_file, "write the results to this file");
  CLI11_PARSE(app, argc, argv);
  nlohmann::json out{{"peer", "Boost.Histogram"}, {"results", nlohmann::json::array()}};
  try {
    for (const auto d : {Distribution::uniform, Distribution::pedestal}) {
      const auto adc = make_adc_values(s.shape, s.frames, d);
      if (!folder.empty()) write_frames(folder, d, adc);
#if PIXHIST_HAVE_BOOST_HISTOGRAM
      const std::vector<double> frames(adc.begin(), adc.end());
      for (const unsigned threads : s.threads) {
        const double ns = time_fill(s, frames, threads);
        std::printf("Boost.Histogram, f64, %s, %u threads: %.2f ns/value\n", std::string(name_of(d)).c_str(),
                    threads, ns);
        out["results"].push_back({{"values", name_of(d)}, {"threads", threads}, {"ns_per_value", ns}});
      }
#endif
    }
#if !PIXHIST_HAVE_BOOST_HISTOGRAM
    out["missing"] = "built without Boost.Histogram (Debian: libboost-dev)";
    std::puts("Boost.Histogram: not there when this was built (Debian: libboost-dev)");
#endif
    if (!json_file.empty()) {
      std::ofstream file(json_file);
      file << out.dump(2) << '\n';
      if (!file.flush()) throw std::runtime_error("cannot write " + json_file);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_peer_boost: %s\n", error.what());
    return 1;
  }
  return 0;
}
