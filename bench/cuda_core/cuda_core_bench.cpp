#include "bench/cuda_core/cuda_core_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/cuda_core/count_hash.hpp"
#include "core/accumulators/pixel_histogram/cuda_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"
#include "core/accumulators/pixel_histogram/cuda_reduce_launch.hpp"
#include "core/pipeline/cuda_pipeline.hpp"

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

/// As the service's submit thread feeds it: batches with tables of their own, sources in turn. Every
/// frame must have been counted afterwards, and no value may lie off the axis.
double service_pipeline_rate(const CoreCase& c) {
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  PinnedMemory pinned(account, 0);
  const HostBlock input = make_input(c, pinned);
  const std::size_t batch_bytes = input.size() / 2;
  const std::size_t frame_bytes = batch_bytes / c.frames;
  std::vector<std::unique_ptr<CudaPixelCounts>> counts;
  std::vector<std::vector<Accumulator*>> accumulators;
  for (std::size_t i = 0; i < c.sources; ++i) {
    counts.push_back(std::make_unique<CudaPixelCounts>(spec_of(c), device, account));
    accumulators.push_back({counts.back().get()});
  }
  CudaPipeline pipeline(device, accumulators, batch_bytes, c.frames, account);
  Batch batch;
  for (std::uint32_t f = 0; f < c.frames; ++f) {
    batch.frames.push_back(
        {f * frame_bytes, static_cast<std::uint32_t>(frame_bytes), frame_flags::complete, 0});
    batch.frame_ok.push_back(1);
  }
  std::size_t submitted = 0;
  const auto submit = [&](std::size_t batches) {
    for (std::size_t b = 0; b < batches; ++b, ++submitted) {
      batch.source = submitted % c.sources;
      batch.bytes = input.bytes().subspan(submitted / c.sources % 2 * batch_bytes, batch_bytes);
      while (!pipeline.try_submit(batch)) {
      }
    }
    pipeline.drain();
  };
  submit(2 * c.sources);
  const std::size_t batches = std::max(least_batches, pipeline_bytes / 2 / batch_bytes);
  std::vector<double> rates;
  for (int i = 0; i < repeats; ++i)
    rates.push_back(static_cast<double>(batch_bytes) * 1e-9 * static_cast<double>(batches) /
                    seconds([&] { submit(batches); }));
  std::uint64_t frames = 0;
  std::uint64_t flow = 0;
  for (const auto& source : counts) {
    frames += source->frames();
    flow += source->flow_totals().below + source->flow_totals().above + source->flow_totals().invalid;
  }
  if (frames != submitted * c.frames || flow != 0) throw std::runtime_error("frames or values were lost");
  return median(rates);
}

}  // namespace

CoreRow run_core(const CoreCase& c, CoreParts parts) {
  const std::size_t batch_bytes = c.shape.pixels() * size_of(c.pixel) * c.frames;
  CoreRow row;
  row.what = c;
  const double h2d_before = h2d_gigabytes_per_s(batch_bytes);
  if (parts == CoreParts::pipeline_only) {
    row.pipeline = service_pipeline_rate(c);
    row.h2d = std::max(h2d_before, h2d_gigabytes_per_s(batch_bytes));
    return row;
  }
  CoreBench bench(c);
  for (const auto kernel : all_fill_kernels) {
    if (bench.can(kernel)) row.kernel[static_cast<std::size_t>(kernel)] = bench.kernel_rate(kernel);
  }
  if (parts == CoreParts::everything) {
    const BatchesOfKernel before = bench.batches();
    row.pipeline = bench.pipeline_rate();
    row.h2d = std::max(h2d_before, h2d_gigabytes_per_s(batch_bytes));
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

double h2d_gigabytes_per_s(std::size_t piece) {
  constexpr std::size_t largest = 256U << 20;
  const std::size_t bytes = std::min(piece, largest);
  const std::size_t pieces = largest / bytes;
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  PinnedMemory pinned(account, 0);
  const HostBlock from = pinned.allocate(bytes * pieces, Paging::populate);
  const DeviceBuffer to(bytes * pieces, account);
  const double seconds = stream_seconds(device.copy(), [&] {
    for (std::size_t i = 0; i < pieces; ++i)
      PIXHIST_CUDA_CHECK(cudaMemcpyAsync(to.data() + i * bytes, from.data() + i * bytes, bytes,
                                         cudaMemcpyHostToDevice, device.copy().get()));
  });
  return static_cast<double>(bytes * pieces) * 1e-9 / seconds;
}

double d2h_seconds(std::size_t bytes) {
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  PinnedMemory pinned(account, 0);
  const HostBlock to = pinned.allocate(bytes, Paging::populate);
  const DeviceBuffer from(bytes, account);
  return stream_seconds(device.read(), [&] {
    PIXHIST_CUDA_CHECK(
        cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToHost, device.read().get()));
  });
}

}  // namespace pixhist::bench
