#pragma once
// A CudaFiller for one combination of types. Included by the .cu files that instantiate it.

#include <algorithm>

#include "core/accumulators/pixel_histogram/cuda_tile_kernel.cuh"
#include "core/memory/cuda_check.hpp"

namespace pixhist {

/// Threads of a block, measured on an H200 (docs/benchmarks.md); a multiple of 32.
inline constexpr unsigned plain_threads = 256;
inline constexpr unsigned scatter_threads = 256;
inline constexpr unsigned tile_threads = 512;
inline constexpr unsigned ranges_threads = 512;
inline constexpr unsigned window_threads = 128;

template <class T, class A, ValueMap M>
class TypedCudaFiller final : public CudaFiller {
 public:
  explicit TypedCudaFiller(const HistogramSpec& spec)
      : scale_(make_bin_scale<A>(spec.axis.bins, spec.axis.min, spec.axis.max)),
        npix_(spec.shape.pixels()),
        mask_missing_(spec.mask_missing) {
    invalid_.count = static_cast<std::uint32_t>(spec.invalid_values.size());
    for (std::size_t i = 0; i < max_invalid_values; ++i)
      invalid_.values[i] =
          invalid_.count == 0 ? T{} : static_cast<T>(spec.invalid_values[i < invalid_.count ? i : 0]);
    allow_shared(fill_tile<T, A, M, false>, FillKernel::tile);
    allow_shared(fill_tile<T, A, M, true>, FillKernel::tile);
    allow_shared(fill_ranges<T, A, M, false>, FillKernel::ranges);
    allow_shared(fill_ranges<T, A, M, true>, FillKernel::ranges);
  }

  void launch(const CudaFill& fill, FillKernel kernel, cudaStream_t stream) const override {
    const FillArguments<T, A> a{fill.batch.pixels,
                                fill.batch.frames.data(),
                                fill.batch.frame_ok.data(),
                                static_cast<std::uint32_t>(fill.batch.frames.size()),
                                fill.counts,
                                npix_,
                                fill.mask,
                                fill.totals,
                                scale_,
                                invalid_,
                                mask_missing_};
    launch_fill(a, kernel, fill.saturating, stream);
    PIXHIST_CUDA_CHECK(cudaGetLastError());
    const std::size_t window_pixels = kernel == FillKernel::window ? npix_ : 0;
    count_good_frames<<<1, 32, 0, stream>>>(a.frame_ok, a.frame_count, window_pixels, a.totals);
    PIXHIST_CUDA_CHECK(cudaGetLastError());
  }

 private:
  void launch_fill(const FillArguments<T, A>& a, FillKernel kernel, bool saturating,
                   cudaStream_t stream) const {
    const std::size_t shared = shared_bytes_of(kernel, scale_.bins);
    switch (kernel) {
      case FillKernel::plain: {
        const auto run = saturating ? fill_plain<T, A, M, true> : fill_plain<T, A, M, false>;
        return run<<<blocks(plain_threads), plain_threads, 0, stream>>>(a);
      }
      case FillKernel::scatter:
        return fill_scatter<T, A, M><<<blocks(tile_pixels), scatter_threads, 0, stream>>>(a);
      case FillKernel::tile: {
        const auto run = saturating ? fill_tile<T, A, M, true> : fill_tile<T, A, M, false>;
        return run<<<blocks(tile_pixels), tile_threads, shared, stream>>>(a);
      }
      case FillKernel::ranges: {
        const auto run = saturating ? fill_ranges<T, A, M, true> : fill_ranges<T, A, M, false>;
        return run<<<blocks(tile_pixels), ranges_threads, shared, stream>>>(a, slots_per_range(scale_.bins));
      }
      case FillKernel::window:
        return fill_window<T, A, M>
            <<<blocks(tile_pixels), window_threads, shared, stream>>>(a, std::min(scale_.bins, window_slots));
    }
  }

  unsigned blocks(std::size_t pixels_per_block) const {
    return static_cast<unsigned>((npix_ + pixels_per_block - 1) / pixels_per_block);
  }

  /// A block gets more than 48 KiB only for a kernel that has asked.
  template <class Kernel>
  void allow_shared(Kernel kernel, FillKernel name) const {
    const std::size_t shared = shared_bytes_of(name, scale_.bins);
    if (shared > shared_bytes_per_block()) return;
    PIXHIST_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  }

  BinScale<A> scale_;
  InvalidValues<T> invalid_{};
  std::size_t npix_;
  bool mask_missing_;
};

template <class T, class A, ValueMap M = ValueMap::raw>
std::unique_ptr<const CudaFiller> make_typed_filler(const HistogramSpec& spec) {
  return std::make_unique<TypedCudaFiller<T, A, M>>(spec);
}

/// u16 with the JUNGFRAU maps, in a file of its own: a third of all kernels.
std::unique_ptr<const CudaFiller> make_mapped_filler(const HistogramSpec& spec);

}  // namespace pixhist
