#include <algorithm>

#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"
#include "core/memory/cuda_check.hpp"
#include "core/model/stored_count.hpp"

namespace pixhist {
namespace {

constexpr unsigned tile = 64;
constexpr unsigned tile_threads = 256;

struct ReadShape {
  std::size_t npix;
  std::uint32_t source_cols;
  std::uint32_t row_begin;
  std::uint32_t col_begin;
  std::uint32_t rows;
  std::uint32_t cols;
  bool flip_rows;

  /// Of the q-th pixel of the window in wire order: where its counts are, and where it goes in the result.
  __device__ std::size_t source_pixel(std::size_t q) const {
    return (row_begin + q / cols) * static_cast<std::size_t>(source_cols) + col_begin + q % cols;
  }
  __device__ std::size_t result_pixel(std::size_t q) const {
    if (!flip_rows) return q;
    return (rows - 1 - q / cols) * static_cast<std::size_t>(cols) + q % cols;
  }
  __host__ __device__ std::size_t pixels() const { return static_cast<std::size_t>(rows) * cols; }
};

ReadShape shape_of(const CudaReadKernel& read) {
  const Rect& r = read.window.pixels;
  return {read.npix, read.cols, r.row_begin, r.col_begin, r.rows(), r.cols(), read.flip_rows};
}

__device__ void add_warp_total(unsigned long long* total, std::uint32_t n) {
  for (int step = 16; step > 0; step /= 2) n += __shfl_down_sync(0xFFFFFFFFU, n, step);
  if (threadIdx.x % 32 == 0 && n != 0) atomicAdd(total, static_cast<unsigned long long>(n));
}

/// Transposes through a shared tile of 64 bins × 64 pixels (a column more: no bank conflicts), capping on the
/// way. Blocks that run side by side take neighbouring bins of the same pixels, so that the long rows of the
/// result are written in one go; all loads of a thread are on the way before the first is used.
template <class Storage>
__global__ void __launch_bounds__(tile_threads)
    read_bins(const std::uint32_t* counts, ReadShape shape, std::uint32_t bin_begin, std::uint32_t bins,
              unsigned blocks_of_bins, Storage* out, unsigned long long* capped) {
  constexpr unsigned lines = tile_threads / tile;  // of the tile, per step of the whole block
  constexpr unsigned steps = tile / lines;
  __shared__ std::uint32_t cells[tile][tile + 1];
  const unsigned x = threadIdx.x % tile;
  const unsigned y = threadIdx.x / tile;
  const std::size_t first_pixel = static_cast<std::size_t>(blockIdx.x / blocks_of_bins) * tile;
  const std::uint32_t first_bin = blockIdx.x % blocks_of_bins * tile;
  const std::size_t pixels = shape.pixels();
  const std::size_t q_in = first_pixel + x;
  const std::size_t p = q_in < pixels ? shape.source_pixel(q_in) : 0;
  std::uint32_t loaded[steps];
#pragma unroll
  for (unsigned i = 0; i < steps; ++i) {
    const std::uint32_t bin = first_bin + y + i * lines;
    const bool there = q_in < pixels && bin < bins;
    loaded[i] = there ? __ldcs(counts + static_cast<std::size_t>(bin_begin + bin) * shape.npix + p) : 0;
  }
#pragma unroll
  for (unsigned i = 0; i < steps; ++i) cells[y + i * lines][x] = loaded[i];
  __syncthreads();
  std::uint32_t cut = 0;
#pragma unroll
  for (unsigned i = 0; i < steps; ++i) {
    const std::size_t q = first_pixel + y + i * lines;
    if (q >= pixels || first_bin + x >= bins) continue;
    const std::uint32_t count = cells[x][y + i * lines];
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

unsigned blocks(std::size_t work, unsigned per_block) {
  return static_cast<unsigned>((work + per_block - 1) / per_block);
}

}  // namespace

void launch_read_bins(const CudaReadKernel& read, std::byte* out, unsigned long long* capped,
                      cudaStream_t stream) {
  const ReadShape shape = shape_of(read);
  const BinRange bins = read.window.bins;
  const unsigned blocks_of_bins = blocks(bins.size(), tile);
  // At most 2^31-1 blocks: 2^43 cells, more than any device holds.
  const unsigned grid = blocks_of_bins * blocks(shape.pixels(), tile);
  visit_storage_type(read.window.dtype, [&]<class Storage>(TypeTag<Storage>) {
    read_bins<Storage><<<grid, tile_threads, 0, stream>>>(
        read.counts, shape, bins.begin, bins.size(), blocks_of_bins, reinterpret_cast<Storage*>(out), capped);
  });
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

void launch_read_flow(const CudaReadKernel& read, Flow flow, std::uint32_t* out, cudaStream_t stream) {
  const ReadShape shape = shape_of(read);
  constexpr unsigned threads = 256;
  const std::uint32_t* plane = read.counts + static_cast<std::size_t>(flow_slot(read.bins, flow)) * read.npix;
  read_flow<<<blocks(shape.pixels(), threads), threads, 0, stream>>>(plane, shape, out);
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

void launch_count_saturated(const std::uint32_t* counts, std::size_t cells, unsigned long long* saturated,
                            cudaStream_t stream) {
  constexpr unsigned threads = 256;
  constexpr std::size_t most_blocks = 4096;
  const unsigned n = static_cast<unsigned>(std::min<std::size_t>(blocks(cells, threads), most_blocks));
  count_saturated<<<n, threads, 0, stream>>>(counts, cells, saturated);
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

}  // namespace pixhist
