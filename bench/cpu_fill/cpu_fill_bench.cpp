#include "bench/cpu_fill/cpu_fill_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "core/accumulators/pixel_histogram/cpu_pixel_histogram.hpp"

namespace pixhist::bench {
namespace {

template <class F>
double seconds(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

/// Counts of every 1009th pixel against a plain loop over the frames. All values lie on the axis.
template <class Pixel, class Histogram>
void check_counts(Histogram& histogram, const std::vector<Pixel>& frames, std::uint64_t batches,
                  double xmax) {
  const std::size_t pixels = histogram.shape().pixels();
  const std::uint32_t bins = histogram.nbins();
  for (std::size_t p = 0; p < pixels; p += 1009) {
    std::vector<std::uint32_t> expected(bins);
    for (std::size_t i = p; i < frames.size(); i += pixels)
      expected[static_cast<std::size_t>(static_cast<double>(frames[i]) * bins / xmax)] +=
          static_cast<std::uint32_t>(batches);
    const auto cols = static_cast<std::size_t>(histogram.shape().cols);
    if (histogram.values_pixel(static_cast<std::int64_t>(p / cols), static_cast<std::int64_t>(p % cols)) !=
        expected)
      throw std::runtime_error("wrong counts in pixel " + std::to_string(p));
  }
}

template <class Pixel>
Row time_fill(const Settings& s, const std::vector<Pixel>& frames, Distribution distribution,
              unsigned threads) {
  // bins and xmax are powers of two, so the plain loop above is exact too.
  const double xmax = sizeof(Pixel) == 1 ? 256 : 16384;
  CpuPixelHistogram<Pixel, std::uint32_t> histogram(s.shape.rows, s.shape.cols, s.bins, 0, xmax, s.frames, {},
                                                    {threads});
  histogram.submit_batch(frames, s.frames);  // untimed: caches and page tables as in a long run
  std::vector<double> times;
  for (unsigned i = 0; i < s.repeats; ++i) {
    times.push_back(seconds([&] {
      histogram.submit_batch(frames, s.frames);
      histogram.flush();
    }));
  }
  check_counts(histogram, frames, s.repeats + 1, xmax);
  const double per_value = 1e9 / static_cast<double>(frames.size());
  Row row;
  row.pixel = name_of(pixel_type_of<Pixel>());
  row.distribution = distribution;
  row.threads = threads;
  row.ns_per_value = median(times) * per_value;
  row.best_ns_per_value = *std::min_element(times.begin(), times.end()) * per_value;
  row.gigabytes_per_s = sizeof(Pixel) / row.ns_per_value;
  return row;
}

template <class Pixel>
void time_type(const Settings& s, const std::vector<std::uint16_t>& adc, Distribution distribution,
               std::vector<Row>& rows) {
  const auto frames = as_pixels<Pixel>(adc);
  for (const unsigned threads : s.threads) rows.push_back(time_fill<Pixel>(s, frames, distribution, threads));
}

std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    std::uint64_t kib = 0;
    if (key == "MemAvailable:" && file >> kib) return kib << 10;
  }
  throw std::runtime_error("/proc/meminfo says no MemAvailable");
}

}  // namespace

std::vector<Row> run(const Settings& settings) {
  std::vector<Row> rows;
  for (const auto distribution : {Distribution::uniform, Distribution::pedestal}) {
    const auto adc = make_adc_values(settings.shape, settings.frames, distribution);
    time_type<std::uint8_t>(settings, adc, distribution, rows);
    time_type<std::uint16_t>(settings, adc, distribution, rows);
    time_type<std::uint32_t>(settings, adc, distribution, rows);
    time_type<float>(settings, adc, distribution, rows);
    time_type<double>(settings, adc, distribution, rows);
  }
  return rows;
}

double memcpy_gigabytes_per_s(unsigned repeats) {
  std::vector<std::byte> from(std::size_t{256} << 20, std::byte{1});
  std::vector<std::byte> to(from.size());
  std::vector<double> times;
  for (unsigned i = 0; i < repeats; ++i)
    times.push_back(seconds([&] { std::memcpy(to.data(), from.data(), from.size()); }));
  if (to != from) throw std::runtime_error("memcpy went wrong");
  return static_cast<double>(from.size()) / median(times) / 1e9;
}

FrameShape fitting_shape(const Settings& settings) {
  FrameShape shape = settings.shape;
  const std::uint64_t bytes_per_pixel = (std::uint64_t{settings.bins} + flow_count) * sizeof(std::uint32_t) +
                                        settings.frames * (sizeof(double) + sizeof(std::uint16_t));
  const std::uint64_t usable = available_bytes() / 4 * 3;
  while (shape.rows > 1 && shape.pixels() * bytes_per_pixel > usable) shape.rows /= 2;
  return shape;
}

}  // namespace pixhist::bench
