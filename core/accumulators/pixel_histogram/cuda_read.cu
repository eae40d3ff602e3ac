#include <algorithm>

#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_shape.cuh"
#include "core/memory/cuda_check.hpp"
#include "core/model/stored_count.hpp"

namespace pixhist {
namespace {

constexpr unsigned tile = 64;
constexpr unsigned tile_threads = 256;

ReadShape shape_of(const CudaReadKernel& read) {
  return {read.npix, read.cols, read.window.pixels, read.flip_rows};
}

__device__ void add_warp_total(unsigned long long* total, std::uint32_t n) {
  for (int step = 16; step > 0; step /= 2) n += __shfl_down_sync(0xFFFFFFFFU, n, step);
  if (threadIdx.x % 32 == 0 && n != 0) atomicAdd(total, static_cast<unsigned long long>(n));
}

/// The count of a cell of the window, which is a cell of the counts.
struct OneBin {
  using Count = std::uint32_t;
  __device__ Count load(const std::uint32_t* first, std::size_t) const { return __ldcs(first); }
  __device__ std::uint32_t bin(std::uint32_t cell) const { return cell; }
};

/// A cell of the window is the sum of neighbouring bins.
struct Rebinned {
  using Count = std::uint64_t;
  std::uint32_t rebin;
  __device__ Count load(const std::uint32_t* first, std::size_t npix) const {
    Count sum = 0;
    for (std::uint32_t k = 0; k < rebin; ++k) sum += __ldcs(first + static_cast<std::size_t>(k) * npix);
    return sum;
  }
  __device__ std::uint32_t bin(std::uint32_t cell) const { return cell * rebin; }
};

/// Transposes through a shared tile of 64 cells × 64 pixels (a column more: no bank conflicts), capping on
/// the way. Blocks that run side by side take neighbouring bins of the same pixels, so that the long rows of
/// the result are written in one go; all loads of a thread are on the way before the first is used.
template <class Storage, class Cells>
__global__ void __launch_bounds__(tile_threads)
    read_bins(const std::uint32_t* counts, ReadShape shape, Cells cells_of, std::uint32_t bin_begin,
              std::uint32_t bins, unsigned blocks_of_bins, Storage* out, unsigned long long* capped) {
  using Count = typename Cells::Count;
  constexpr unsigned lines = tile_threads / tile;  // of the tile, per step of the whole block
  constexpr unsigned steps = tile / lines;
  __shared__ Count cells[tile][tile + 1];
  const unsigned x = threadIdx.x % tile;
  const unsigned y = threadIdx.x / tile;
  const std::size_t first_pixel = static_cast<std::size_t>(blockIdx.x / blocks_of_bins) * tile;
  const std::uint32_t first_bin = blockIdx.x % blocks_of_bins * tile;
  const std::size_t pixels = shape.pixels();
  const std::size_t q_in = first_pixel + x;
  const std::size_t p = q_in < pixels ? shape.source_pixel(q_in) : 0;
  Count loaded[steps];
#pragma unroll
  for (unsigned i = 0; i < steps; ++i) {
    const std::uint32_t bin = first_bin + y + i * lines;
    const bool there = q_in < pixels && bin < bins;
    const std::uint32_t* first =
        counts + static_cast<std::size_t>(bin_begin + cells_of.bin(bin)) * shape.npix + p;
    loaded[i] = there ? cells_of.load(first, shape.npix) : 0;
  }
#pragma unroll
  for (unsigned i = 0; i < steps; ++i) cells[y + i * lines][x] = loaded[i];
  __syncthreads();
  std::uint32_t cut = 0;
#pragma unroll
  for (unsigned i = 0; i < steps; ++i) {
    const std::size_t q = first_pixel + y + i * lines;
    if (q >= pixels || first_bin + x >= bins) continue;
    const Count count = cells[x][y + i * lines];
    cut += count > storage_cap<Storage>() ? 1U : 0U;
    out[shape.result_pixel(q) * bins + first_bin + x] = stored_count<Storage>(count);
  }
  add_warp_total(capped, cut);
}

__global__ void read_flow(const std::uint32_t* plane, ReadShape shape, std::uint32_t* out) {
  const std::size_t q = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (q < shape.pixels()) out[shape.result_pixel(q)] = plane[shape.source_pixel(q)];
}

__global__ void count_saturated(const std::uint32_t* counts, std::size_t cells,
                                unsigned long long* saturated) {
  std::uint32_t n = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < cells;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x)
    n += counts[i] == 0xFFFFFFFFU ? 1U : 0U;
  add_warp_total(saturated, n);
}

}  // namespace

void launch_read_bins(const CudaReadKernel& read, std::byte* out, unsigned long long* capped,
                      cudaStream_t stream) {
  const ReadShape shape = shape_of(read);
  const BinRange bins = read.window.bins;
  const unsigned blocks_of_bins = blocks_for(read.window.cells(), tile);
  // At most 2^31-1 blocks: 2^43 cells, more than any device holds.
  const unsigned grid = blocks_of_bins * blocks_for(shape.pixels(), tile);
  visit_storage_type(read.window.dtype, [&]<class Storage>(TypeTag<Storage>) {
    const auto launch = [&](auto cells_of) {
      read_bins<<<grid, tile_threads, 0, stream>>>(read.counts, shape, cells_of, bins.begin,
                                                   read.window.cells(), blocks_of_bins,
                                                   reinterpret_cast<Storage*>(out), capped);
    };
    if (read.window.rebin == 1)
      launch(OneBin{});
    else
      launch(Rebinned{read.window.rebin});
  });
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

void launch_read_flow(const CudaReadKernel& read, Flow flow, std::uint32_t* out, cudaStream_t stream) {
  const ReadShape shape = shape_of(read);
  constexpr unsigned threads = 256;
  const std::uint32_t* plane = read.counts + static_cast<std::size_t>(flow_slot(read.bins, flow)) * read.npix;
  read_flow<<<blocks_for(shape.pixels(), threads), threads, 0, stream>>>(plane, shape, out);
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

void launch_count_saturated(const std::uint32_t* counts, std::size_t cells, unsigned long long* saturated,
                            cudaStream_t stream) {
  constexpr unsigned threads = 256;
  constexpr std::size_t most_blocks = 4096;
  const unsigned n = static_cast<unsigned>(std::min<std::size_t>(blocks_for(cells, threads), most_blocks));
  count_saturated<<<n, threads, 0, stream>>>(counts, cells, saturated);
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

}  // namespace pixhist
