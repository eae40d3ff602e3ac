#pragma once
// The public per-pixel histogram on a CUDA device.

#include "core/accumulators/pixel_histogram/cuda_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/pixel_histogram.hpp"

namespace pixhist {

/// CudaPixelHistogram<std::uint16_t> h(rows, cols, 1024, 0, 16384, 255);
template <class Pixel, class Storage = std::uint16_t, class Axis = DefaultAxis<Pixel>,
          ValueMap Map = ValueMap::raw>
using CudaPixelHistogram = PixelHistogram<CudaHistogramEngine, Pixel, Storage, Axis, Map>;

}  // namespace pixhist
