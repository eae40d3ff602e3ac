#pragma once
// The public per-pixel histogram on the CPU.

#include "core/accumulators/pixel_histogram/cpu_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/pixel_histogram.hpp"

namespace pixhist {

/// CpuPixelHistogram<std::uint16_t> h(rows, cols, 1024, 0, 16384, 255);
template <class Pixel, class Storage = std::uint16_t, class Axis = DefaultAxis<Pixel>,
          ValueMap Map = ValueMap::raw>
using CpuPixelHistogram = PixelHistogram<CpuHistogramEngine, Pixel, Storage, Axis, Map>;

}  // namespace pixhist
