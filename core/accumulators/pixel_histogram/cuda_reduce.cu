#include "core/accumulators/pixel_histogram/cuda_read_shape.cuh"
#include "core/accumulators/pixel_histogram/cuda_reduce_launch.hpp"
#include "core/memory/cuda_check.hpp"

namespace pixhist {
namespace {

// A block reduces 32 neighbouring pixels, a lane each, so that a warp reads a line of each bin; its warps
// share the bins out among them, so that a small detector keeps the device busy too.
constexpr unsigned lanes = 32;
constexpr unsigned slices = 16;

struct BinSlice {
  std::uint32_t begin;
  std::uint32_t end;
};

/// The share of a warp of the bins that are asked for, counted on the axis.
__device__ BinSlice slice_of(BinRange bins, unsigned warp) {
  const std::uint32_t each = (bins.end - bins.begin + slices - 1) / slices;  // at most 4096
  const std::uint32_t begin = bins.begin + warp * each;
  return {begin < bins.end ? begin : bins.end, begin + each < bins.end ? begin + each : bins.end};
}

/// Calls fn(bin, count) for the bins of a slice in rising order, with several loads on the way.
template <class Fn>
__device__ void for_each_bin(const std::uint32_t* pixel, std::size_t npix, BinSlice slice, Fn&& fn) {
  constexpr std::uint32_t ahead = 8;
  std::uint32_t bin = slice.begin;
  for (; bin + ahead <= slice.end; bin += ahead) {
    std::uint32_t loaded[ahead];
#pragma unroll
    for (std::uint32_t i = 0; i < ahead; ++i)
      loaded[i] = __ldcs(pixel + static_cast<std::size_t>(bin + i) * npix);
#pragma unroll
    for (std::uint32_t i = 0; i < ahead; ++i) fn(bin + i, loaded[i]);
  }
  for (; bin < slice.end; ++bin) fn(bin, __ldcs(pixel + static_cast<std::size_t>(bin) * npix));
}

// How each kind reduces a slice of one pixel, and joins the slices in rising order of bins.

struct SumOf {
  using Value = std::uint64_t;
  static __device__ Value empty() { return 0; }
  static __device__ Value slice(const std::uint32_t* pixel, std::size_t npix, BinSlice bins) {
    Value n = 0;
    for_each_bin(pixel, npix, bins, [&n](std::uint32_t, std::uint32_t count) { n += count; });
    return n;
  }
  static __device__ void join(Value& all, const Value& next) { all += next; }
  static __device__ Value result(const Value& all) { return all; }
};

struct MomentsOf {
  using Value = PixelMoments;
  static __device__ Value empty() { return {}; }
  static __device__ Value slice(const std::uint32_t* pixel, std::size_t npix, BinSlice bins) {
    PixelMoments moments;
    for (std::uint32_t begin = bins.begin; begin < bins.end; begin += RunMoments::longest) {
      const std::uint32_t end =
          begin + RunMoments::longest < bins.end ? begin + RunMoments::longest : bins.end;
      RunMoments run;
      for_each_bin(pixel, npix, {begin, end},
                   [&run, begin](std::uint32_t bin, std::uint32_t count) { run.add(bin - begin, count); });
      moments.add(begin, run);
    }
    return moments;
  }
  static __device__ void join(Value& all, const Value& next) { all += next; }
  static __device__ Value result(const Value& all) { return all; }
};

struct ModeOf {
  struct Value {
    std::uint32_t count;
    FoundBin found;
  };
  static __device__ Value empty() { return {0, 0}; }
  static __device__ Value slice(const std::uint32_t* pixel, std::size_t npix, BinSlice bins) {
    Value fullest = empty();
    for_each_bin(pixel, npix, bins, [&fullest](std::uint32_t bin, std::uint32_t count) {
      if (count > fullest.count) fullest = {count, bin + 1};
    });
    return fullest;
  }
  static __device__ void join(Value& all, const Value& next) {
    if (next.count > all.count) all = next;
  }
  static __device__ FoundBin result(const Value& all) { return all.found; }
};

struct MaxOf {
  using Value = FoundBin;
  static __device__ Value empty() { return 0; }
  static __device__ Value slice(const std::uint32_t* pixel, std::size_t npix, BinSlice bins) {
    FoundBin highest = 0;
    for_each_bin(pixel, npix, bins, [&highest](std::uint32_t bin, std::uint32_t count) {
      if (count != 0) highest = bin + 1;
    });
    return highest;
  }
  static __device__ void join(Value& all, const Value& next) { all = next != 0 ? next : all; }
  static __device__ Value result(const Value& all) { return all; }
};

/// The pixel of a thread; past the last one it reads none and writes none.
struct Lane {
  std::size_t q;
  bool there;
  __device__ explicit Lane(const ReadShape& shape)
      : q(static_cast<std::size_t>(blockIdx.x) * lanes + threadIdx.x % lanes), there(q < shape.pixels()) {}
};

template <class Reduction, class Out>
__global__ void __launch_bounds__(lanes* slices)
    reduce_pixels(const std::uint32_t* counts, ReadShape shape, BinRange bins, Out* out) {
  using Value = typename Reduction::Value;
  // As bytes, because shared memory runs no constructor.
  alignas(16) __shared__ unsigned char bytes[slices * lanes * sizeof(Value)];
  auto* const parts = reinterpret_cast<Value*>(bytes);
  const Lane lane(shape);
  const unsigned warp = threadIdx.x / lanes;
  parts[threadIdx.x] =
      lane.there ? Reduction::slice(counts + shape.source_pixel(lane.q), shape.npix, slice_of(bins, warp))
                 : Reduction::empty();
  __syncthreads();
  if (warp != 0 || !lane.there) return;
  Value all = parts[threadIdx.x];
  for (unsigned s = 1; s < slices; ++s) Reduction::join(all, parts[s * lanes + threadIdx.x]);
  out[shape.result_pixel(lane.q)] = Reduction::result(all);
}

/// Each warp sums its slice, all find the slice that holds the wanted count, and its warp looks through it
/// again.
__global__ void __launch_bounds__(lanes* slices)
    find_median(const std::uint32_t* counts, ReadShape shape, BinRange bins, FoundBin* out) {
  __shared__ std::uint64_t sums[slices][lanes];
  const Lane lane(shape);
  const unsigned warp = threadIdx.x / lanes;
  const unsigned x = threadIdx.x % lanes;
  const BinSlice slice = slice_of(bins, warp);
  const std::uint32_t* pixel = counts + (lane.there ? shape.source_pixel(lane.q) : 0);
  sums[warp][x] = lane.there ? SumOf::slice(pixel, shape.npix, slice) : 0;
  __syncthreads();
  if (!lane.there) return;
  std::uint64_t all = 0;
  std::uint64_t before = 0;  // this slice
  for (unsigned s = 0; s < slices; ++s) {
    if (s < warp) before += sums[s][x];
    all += sums[s][x];
  }
  const std::uint64_t wanted = median_count(all);
  FoundBin* const to = out + shape.result_pixel(lane.q);
  if (all == 0 && warp == 0) *to = 0;
  if (all == 0 || wanted <= before || wanted > before + sums[warp][x]) return;
  std::uint64_t seen = before;
  for (std::uint32_t bin = slice.begin; bin < slice.end; ++bin) {
    seen += pixel[static_cast<std::size_t>(bin) * shape.npix];
    if (seen < wanted) continue;
    *to = bin + 1;
    return;
  }
}

// Of the spectrum: a block sums so many pixels of one bin.
constexpr unsigned spectrum_threads = 256;
constexpr unsigned pixels_per_thread = 16;
constexpr unsigned spectrum_pixels = spectrum_threads * pixels_per_thread;

__global__ void __launch_bounds__(spectrum_threads)
    sum_bins(const std::uint32_t* counts, ReadShape shape, BinRange bins, unsigned blocks_of_bin,
             unsigned long long* out) {
  __shared__ unsigned long long warp_sums[spectrum_threads / 32];
  const std::uint32_t bin = blockIdx.x / blocks_of_bin;
  const std::uint32_t* row = counts + static_cast<std::size_t>(bins.begin + bin) * shape.npix;
  const std::size_t first =
      static_cast<std::size_t>(blockIdx.x % blocks_of_bin) * spectrum_pixels + threadIdx.x;
  const std::size_t pixels = shape.pixels();
  unsigned long long n = 0;
#pragma unroll 4
  for (unsigned i = 0; i < pixels_per_thread; ++i) {
    const std::size_t q = first + static_cast<std::size_t>(i) * spectrum_threads;
    if (q < pixels) n += __ldcs(row + shape.source_pixel(q));
  }
  // Every thread of every warp is here: none returns early.
  for (int step = 16; step > 0; step /= 2) n += __shfl_down_sync(0xFFFFFFFFU, n, step);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = n;
  __syncthreads();
  if (threadIdx.x != 0) return;
  n = 0;
  for (const unsigned long long sum : warp_sums) n += sum;
  if (n != 0) atomicAdd(out + bin, n);
}

void launch_spectrum(const CudaReduceKernel& reduce, const ReadShape& shape, std::byte* out,
                     cudaStream_t stream) {
  const BinRange bins = reduce.request.bins;
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(out, 0, bins.size() * sizeof(std::uint64_t), stream));
  if (shape.pixels() == 0) return;
  // At most 2^31-1 blocks: counts of 2^43 cells, more than any device holds.
  const unsigned blocks_of_bin = blocks_for(shape.pixels(), spectrum_pixels);
  sum_bins<<<blocks_of_bin * bins.size(), spectrum_threads, 0, stream>>>(
      reduce.counts, shape, bins, blocks_of_bin, reinterpret_cast<unsigned long long*>(out));
}

}  // namespace

void launch_reduce(const CudaReduceKernel& reduce, std::byte* out, cudaStream_t stream) {
  const ReadShape shape(reduce.npix, reduce.cols, reduce.request.pixels, reduce.flip_rows);
  const BinRange bins = reduce.request.bins;
  const unsigned grid = blocks_for(shape.pixels(), lanes);
  constexpr unsigned threads = lanes * slices;
  const auto reduce_each = [&]<class Reduction, class Out>(Reduction, Out) {
    reduce_pixels<Reduction>
        <<<grid, threads, 0, stream>>>(reduce.counts, shape, bins, reinterpret_cast<Out*>(out));
  };
  switch (reduce.request.kind) {
    case ReductionKind::spectrum: launch_spectrum(reduce, shape, out, stream); break;
    case ReductionKind::sum: reduce_each(SumOf{}, std::uint64_t{}); break;
    case ReductionKind::moments: reduce_each(MomentsOf{}, PixelMoments{}); break;
    case ReductionKind::mode: reduce_each(ModeOf{}, FoundBin{}); break;
    case ReductionKind::max: reduce_each(MaxOf{}, FoundBin{}); break;
    case ReductionKind::median:
      find_median<<<grid, threads, 0, stream>>>(reduce.counts, shape, bins, reinterpret_cast<FoundBin*>(out));
      break;
  }
  PIXHIST_CUDA_CHECK(cudaGetLastError());
}

}  // namespace pixhist
