#pragma once
// A CudaFiller for one combination of types. Included by the .cu files that instantiate it.

#include <algorithm>

#include "core/accumulators/pixel_histogram/cuda_fill_kernel.cuh"
#include "core/memory/cuda_check.hpp"

namespace pixhist {

template <class T, class A, ValueMap M>
class TypedCudaFiller final : public CudaFiller {
 public:
  explicit TypedCudaFiller(const HistogramSpec& spec)
      : scale_(make_bin_scale<A>(spec.axis.bins, spec.axis.min, spec.axis.max)), npix_(spec.shape.pixels()) {
    invalid_.count = static_cast<std::uint32_t>(spec.invalid_values.size());
    for (std::size_t i = 0; i < max_invalid_values; ++i)
      invalid_.values[i] =
          invalid_.count == 0 ? T{} : static_cast<T>(spec.invalid_values[i < invalid_.count ? i : 0]);
    plain_threads_ = plain_shape(fill_plain<T, A, M, false>);
    if (tile_shared_bytes(scale_.bins) <= shared_bytes_per_block())
      tile_threads_ = std::min(tile_shape(fill_tile<T, A, M, false>), tile_shape(fill_tile<T, A, M, true>));
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
                                invalid_};
    if (kernel == FillKernel::tile)
      launch_tile(a, fill.saturating, stream);
    else
      launch_plain(a, fill.saturating, stream);
    count_good_frames<<<1, 32, 0, stream>>>(a.frame_ok, a.frame_count, a.totals);
    PIXHIST_CUDA_CHECK(cudaGetLastError());
  }

 private:
  unsigned blocks(std::size_t pixels_per_block) const {
    return static_cast<unsigned>((npix_ + pixels_per_block - 1) / pixels_per_block);
  }

  void launch_plain(const FillArguments<T, A>& a, bool saturating, cudaStream_t stream) const {
    const auto kernel = saturating ? fill_plain<T, A, M, true> : fill_plain<T, A, M, false>;
    kernel<<<blocks(plain_threads_), plain_threads_, 0, stream>>>(a);
    PIXHIST_CUDA_CHECK(cudaGetLastError());
  }

  void launch_tile(const FillArguments<T, A>& a, bool saturating, cudaStream_t stream) const {
    const auto kernel = saturating ? fill_tile<T, A, M, true> : fill_tile<T, A, M, false>;
    kernel<<<blocks(tile_pixels), tile_threads_, tile_shared_bytes(scale_.bins), stream>>>(a);
    PIXHIST_CUDA_CHECK(cudaGetLastError());
  }

  /// Whole warps, as many as let most of them be resident.
  template <class Kernel>
  static unsigned plain_shape(Kernel kernel) {
    int grid = 0;
    int block = 0;
    PIXHIST_CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0));
    return static_cast<unsigned>(block);
  }

  /// Shared memory limits the blocks that are resident at once; of the block sizes that keep most threads
  /// resident the smallest is taken, as it waits least at its barriers.
  template <class Kernel>
  unsigned tile_shape(Kernel kernel) const {
    const std::size_t shared = tile_shared_bytes(scale_.bins);
    PIXHIST_CUDA_CHECK(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    unsigned best = tile_pixels;
    int best_resident = 0;
    for (unsigned threads = 64; threads <= 1024; threads *= 2) {
      int resident_blocks = 0;
      PIXHIST_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident_blocks, kernel,
                                                                       static_cast<int>(threads), shared));
      const int resident = resident_blocks * static_cast<int>(threads);
      if (resident > best_resident) {
        best = threads;
        best_resident = resident;
      }
    }
    return best;
  }

  BinScale<A> scale_;
  InvalidValues<T> invalid_{};
  std::size_t npix_;
  unsigned plain_threads_ = 0;
  unsigned tile_threads_ = 0;
};

template <class T, class A, ValueMap M = ValueMap::raw>
std::unique_ptr<const CudaFiller> make_typed_filler(const HistogramSpec& spec) {
  return std::make_unique<TypedCudaFiller<T, A, M>>(spec);
}

/// u16 with the JUNGFRAU maps, in a file of its own: a third of all kernels.
std::unique_ptr<const CudaFiller> make_mapped_filler(const HistogramSpec& spec);

}  // namespace pixhist
