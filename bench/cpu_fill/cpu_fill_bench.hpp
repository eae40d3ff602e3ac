#pragma once
// Time of the CPU twin per pixel value, and what the machine's memory allows.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/frames/frames.hpp"
#include "core/model/geometry.hpp"

namespace pixhist::bench {

struct Settings {
  FrameShape shape{512, 1024};
  std::uint32_t bins = 1024;
  std::uint32_t frames = 255;  // a batch
  unsigned repeats = 5;
  std::vector<unsigned> threads;
};

struct Row {
  std::string pixel;
  Distribution distribution = Distribution::uniform;
  unsigned threads = 0;
  double ns_per_value = 0;  // median over the repeats
  double best_ns_per_value = 0;
  double gigabytes_per_s = 0;  // of frames, at the median
};

/// Every pixel type, distribution and number of threads. Throws std::runtime_error if the counts are wrong.
std::vector<Row> run(const Settings& settings);

/// Bytes per second of std::memcpy on one thread between buffers larger than any cache (median), in GB/s.
double memcpy_gigabytes_per_s(unsigned repeats);

/// Fewer rows until counts and frames of the widest type fit in the memory that is free now.
FrameShape fitting_shape(const Settings& settings);

}  // namespace pixhist::bench
