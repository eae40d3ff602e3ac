#pragma once
// The contract once more, in plain scalar code of its own: it shares no line with the arithmetic of
// core/model, so an error there is not repeated here. Slow and simple on purpose.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace pixhist::contract {

/// map: "raw", "adc", "gain", "adc_g0", "adc_g1" or "adc_g2".
template <class T, class A>
struct ReferenceHistogram {
  std::size_t pixels;
  std::size_t bins;
  double xmin;
  double xmax;
  std::string map = "raw";
  std::vector<T> invalid_values = {};
  std::vector<std::uint8_t> mask = {};

  std::uint64_t frames = 0;
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(pixels * bins);  // [pixel][bin]
  std::vector<std::uint64_t> below = std::vector<std::uint64_t>(pixels);
  std::vector<std::uint64_t> above = std::vector<std::uint64_t>(pixels);
  std::vector<std::uint64_t> invalid = std::vector<std::uint64_t>(pixels);
  std::vector<std::uint64_t> other_stage = std::vector<std::uint64_t>(pixels);

  void add(const std::vector<T>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) add_value(i % pixels, values[i]);
    frames += values.size() / pixels;
  }

  void add_value(std::size_t pixel, T raw) {
    if (!mask.empty() && mask[pixel] != 0) {
      ++invalid[pixel];
      return;
    }
    for (const T bad : invalid_values) {
      if (raw == bad) {
        ++invalid[pixel];
        return;
      }
    }
    if (map == "raw")
      bin(pixel, static_cast<A>(raw));
    else
      add_jungfrau(pixel, static_cast<std::uint64_t>(raw));
  }

  void add_jungfrau(std::size_t pixel, std::uint64_t word) {
    const std::uint64_t gain = word / 16384;
    const std::uint64_t adc = word % 16384;
    if (gain == 2) {
      ++invalid[pixel];
    } else if (map == "gain") {
      bin(pixel, static_cast<A>(gain));
    } else if ((map == "adc_g0" && gain != 0) || (map == "adc_g1" && gain != 1) ||
               (map == "adc_g2" && gain != 3)) {
      ++other_stage[pixel];
    } else {
      bin(pixel, static_cast<A>(adc));
    }
  }

  void bin(std::size_t pixel, A v) {
    const A lo = static_cast<A>(xmin);
    const A hi = static_cast<A>(xmax);
    if (std::isnan(v)) {
      ++invalid[pixel];
    } else if (v < lo) {
      ++below[pixel];
    } else if (!(v < hi)) {
      ++above[pixel];
    } else {
      const A width = hi - lo;
      const A scale = static_cast<A>(bins) / width;
      const A distance = v - lo;
      const A product = distance * scale;
      std::size_t index = static_cast<std::size_t>(product);
      if (index >= bins) index = bins - 1;
      ++counts[pixel * bins + index];
    }
  }
};

/// What a count reads as in a storage type.
template <class Storage>
Storage capped(std::uint64_t count) {
  const std::uint64_t most_of_device = 4294967295U;
  if (count > most_of_device) count = most_of_device;
  if constexpr (std::numeric_limits<Storage>::is_integer) {
    if (count > std::numeric_limits<Storage>::max()) return std::numeric_limits<Storage>::max();
  }
  return static_cast<Storage>(count);
}

template <class Storage>
std::vector<Storage> capped(const std::vector<std::uint64_t>& counts) {
  std::vector<Storage> out;
  out.reserve(counts.size());
  for (const std::uint64_t n : counts) out.push_back(capped<Storage>(n));
  return out;
}

}  // namespace pixhist::contract
