#include "bench/cuda_core/cuda_core_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>

#include "bench/cuda_core/count_hash.hpp"
#include "core/accumulators/pixel_histogram/cuda_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"
#include "core/accumulators/pixel_histogram/cuda_reduce_launch.hpp"

namespace pixhist::bench {
namespace {

constexpr int repeats = 5;
/// Timed at once, so that filling and draining the pipeline do not show.
constexpr std::size_t pipeline_bytes = 8ULL << 30;
constexpr std::size_t least_batches = 24;

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

double seconds(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds on `stream` by its own events, median, after one warm-up.
double stream_seconds(const CudaStream& stream, const std::function<void()>& enqueue) {
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    const CudaEvent begin(EventTiming::on);
    const CudaEvent end(EventTiming::on);
    begin.record(stream);
    enqueue();
    end.record(stream);
    stream.synchronize();
    if (i > 0) times.push_back(seconds_between(begin, end));
  }
  return median(times);
}

HistogramSpec spec_of(const CoreCase& c) {
  HistogramSpec spec;
  spec.shape = c.shape;
  spec.pixel_type = c.pixel;
  spec.axis = {c.bins, 0, c.pixel == PixelType::u8 ? 256.0 : 16384.0, default_axis_type(c.pixel)};
  return spec;
}

/// Two batches of different frames: more than the device's caches hold. Made once for a few frames and laid
/// down shifted by some pixels each time where pixels are alike: random in value, cheap to make.
template <class Pixel>
void lay_down(const CoreCase& c, std::byte* out) {
  const std::size_t npix = c.shape.pixels();
  const std::size_t made = std::min<std::size_t>(c.frames, 16);
  const auto values = as_pixels<Pixel>(make_adc_values(c.shape, made, c.distribution));
  for (std::size_t f = 0; f < 2 * std::size_t{c.frames}; ++f) {
    const std::size_t shift = c.distribution == Distribution::pedestal ? 0 : f / made * 977 % npix;
    const Pixel* frame = values.data() + f % made * npix;
    std::byte* to = out + f * npix * sizeof(Pixel);
    std::memcpy(to, frame + shift, (npix - shift) * sizeof(Pixel));
    std::memcpy(to + (npix - shift) * sizeof(Pixel), frame, shift * sizeof(Pixel));
  }
}

HostBlock make_input(const CoreCase& c, PinnedMemory& memory) {
  HostBlock input = memory.allocate(2 * c.shape.pixels() * size_of(c.pixel) * c.frames, Paging::populate);
  visit_pixel_type(c.pixel, [&]<class Pixel>(TypeTag<Pixel>) { lay_down<Pixel>(c, input.data()); });
  return input;
}

class CoreBench {
 public:
  explicit CoreBench(const CoreCase& c)
      : case_(c),
        pinned_(account_, 0),
        input_(make_input(c, pinned_)),
        engine_(spec_of(c), c.frames, {}),
        hash_(sizeof(unsigned long long), account_) {}

  double kernel_rate(FillKernel kernel) {
    engine_.counts().pin_kernel(kernel);
    std::vector<double> rates;
    for (int i = 0; i <= repeats; ++i) {
      submit();
      engine_.flush();
      if (i > 0) rates.push_back(gigabytes() / engine_.slots().kernel_seconds(batch_ - 1));
    }
    check(kernel);
    return median(rates);
  }

  /// As a service would run it: the policy learns while it goes.
  double pipeline_rate() {
    engine_.counts().pin_kernel(std::nullopt);
    const std::size_t batches = std::max(least_batches, pipeline_bytes / batch_bytes());
    std::vector<double> rates;
    for (int i = 0; i <= repeats; ++i) {
      const double t = seconds([&] {
        for (std::size_t b = 0; b < batches; ++b) submit();
        engine_.flush();
      });
      if (i > 0) rates.push_back(gigabytes() * static_cast<double>(batches) / t);
    }
    check(std::nullopt);
    return median(rates);
  }

  /// Hash of the counts after a few batches of `kernel`, or of the policy, from zero.
  unsigned long long hash_after(std::optional<FillKernel> kernel) {
    constexpr int batches = 4;
    engine_.counts().pin_kernel(kernel);
    engine_.zero();
    batch_ = 0;
    for (int i = 0; i < batches; ++i) submit();
    engine_.flush();
    const auto stream = engine_.device().compute().get();
    unsigned long long hash = 0;
    PIXHIST_CUDA_CHECK(cudaMemsetAsync(hash_.data(), 0, sizeof hash, stream));
    launch_count_hash(engine_.counts().cells_on_device(), count_bytes(engine_.spec()) / 4,
                      hash_.data<unsigned long long>(), stream);
    PIXHIST_CUDA_CHECK(cudaMemcpyAsync(&hash, hash_.data(), sizeof hash, cudaMemcpyDeviceToHost, stream));
    engine_.device().compute().synchronize();
    return hash;
  }

  bool can(FillKernel kernel) const {
    return kernel_can(kernel, {case_.bins, shared_bytes_per_block()}, false);
  }
  BatchesOfKernel batches() {
    BatchesOfKernel out{};
    std::ranges::copy(engine_.counts().batches_of_kernel(), out.begin());
    return out;
  }

 private:
  std::size_t batch_bytes() const { return input_.size() / 2; }
  double gigabytes() const { return static_cast<double>(batch_bytes()) * 1e-9; }
  void submit() { engine_.submit(input_.data() + batch_++ % 2 * batch_bytes(), case_.frames); }

  void check(std::optional<FillKernel> kernel) {
    if (!reference_) reference_ = hash_after(FillKernel::plain);
    if (hash_after(kernel) != *reference_)
      throw std::runtime_error("the counts of " + std::string(kernel ? name_of(*kernel) : "the policy") +
                               " differ from those of plain");
  }

  const CoreCase case_;
  MemoryAccount account_;
  PinnedMemory pinned_;
  HostBlock input_;
  CudaHistogramEngine engine_;
  DeviceBuffer hash_;
  std::optional<unsigned long long> reference_;
  std::uint64_t batch_ = 0;
};

}  // namespace

CoreRow run_core(const CoreCase& c, CoreParts parts) {
  CoreRow row;
  row.what = c;
  const double h2d_before = h2d_gigabytes_per_s();
  CoreBench bench(c);
  for (const auto kernel : all_fill_kernels) {
    if (bench.can(kernel)) row.kernel[static_cast<std::size_t>(kernel)] = bench.kernel_rate(kernel);
  }
  if (parts == CoreParts::everything) {
    const BatchesOfKernel before = bench.batches();
    row.pipeline = bench.pipeline_rate();
    row.h2d = std::max(h2d_before, h2d_gigabytes_per_s());
    for (std::size_t k = 0; k < fill_kernel_count; ++k) row.batches[k] = bench.batches()[k] - before[k];
  }
  return row;
}

namespace {

/// Counts of a source on the device, all the same, and room for a copy of them.
struct DeviceCounts {
  DeviceCounts(FrameShape shape, std::uint32_t bins)
      : device(0),
        bytes(shape.pixels() * bins * sizeof(std::uint32_t)),
        counts(bytes + shape.pixels() * flow_count * sizeof(std::uint32_t), account),
        out(bytes, account),
        capped(sizeof(unsigned long long), account) {
    PIXHIST_CUDA_CHECK(cudaMemsetAsync(counts.data(), 1, counts.size(), device.compute().get()));
  }

  double copy_seconds() {
    return stream_seconds(device.compute(), [&] {
      PIXHIST_CUDA_CHECK(cudaMemcpyAsync(out.data(), counts.data(), bytes, cudaMemcpyDeviceToDevice,
                                         device.compute().get()));
    });
  }

  MemoryAccount account;
  CudaDeviceStreams device;
  std::size_t bytes;
  DeviceBuffer counts;
  DeviceBuffer out;
  DeviceBuffer capped;
};

}  // namespace

TransposeRow run_transpose(FrameShape shape, std::uint32_t bins) {
  DeviceCounts counts(shape, bins);
  CudaReadKernel read;
  read.counts = counts.counts.data<std::uint32_t>();
  read.npix = shape.pixels();
  read.cols = shape.cols;
  read.bins = bins;
  read.window = {Rect::whole(shape), {0, bins}, StorageType::u32};
  const double seconds = stream_seconds(counts.device.compute(), [&] {
    launch_read_bins(read, counts.out.data(), counts.capped.data<unsigned long long>(),
                     counts.device.compute().get());
  });
  return {shape, bins, seconds, counts.copy_seconds()};
}

ReduceRow run_reduce(FrameShape shape, std::uint32_t bins, ReductionKind kind) {
  DeviceCounts counts(shape, bins);
  CudaReduceKernel reduce;
  reduce.counts = counts.counts.data<std::uint32_t>();
  reduce.npix = shape.pixels();
  reduce.cols = shape.cols;
  reduce.request.kind = kind;
  reduce.request.pixels = Rect::whole(shape);
  reduce.request.bins = {0, bins};
  const double seconds = stream_seconds(counts.device.compute(), [&] {
    launch_reduce(reduce, counts.out.data(), counts.device.compute().get());
  });
  return {shape, bins, kind, seconds, counts.copy_seconds() / 2};
}

double h2d_gigabytes_per_s() {
  constexpr std::size_t bytes = 256U << 20;
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  PinnedMemory pinned(account, 0);
  const HostBlock from = pinned.allocate(bytes, Paging::populate);
  const DeviceBuffer to(bytes, account);
  return static_cast<double>(bytes) * 1e-9 / stream_seconds(device.copy(), [&] {
           PIXHIST_CUDA_CHECK(
               cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyHostToDevice, device.copy().get()));
         });
}

}  // namespace pixhist::bench
