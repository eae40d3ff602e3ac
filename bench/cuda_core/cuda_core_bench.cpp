#include "bench/cuda_core/cuda_core_bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "core/accumulators/pixel_histogram/cuda_histogram_engine.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"

namespace pixhist::bench {
namespace {

constexpr int repeats = 5;
constexpr int batches_per_repeat = 12;

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
  spec.axis = {c.bins, 0, 16384, AxisType::f32};
  return spec;
}

/// Two batches of different frames: more than the device's caches hold.
HostBlock make_input(const CoreCase& c, PinnedMemory& memory) {
  const std::size_t batch_bytes = c.shape.pixels() * sizeof(std::uint16_t) * c.frames;
  HostBlock input = memory.allocate(2 * batch_bytes, Paging::populate);
  // Made once for a few frames and laid down shifted by some pixels each time: random in value, cheap to
  // make.
  const std::size_t npix = c.shape.pixels();
  const std::size_t made = std::min<std::size_t>(c.frames, 16);
  const auto values = make_adc_values(c.shape, made, c.distribution);
  for (std::size_t f = 0; f < 2 * std::size_t{c.frames}; ++f) {
    const std::size_t shift = c.distribution == Distribution::uniform ? (f / made * 977) % npix : 0;
    const auto* frame = values.data() + f % made * npix;
    auto* out = input.as<std::uint16_t>().data() + f * npix;
    std::memcpy(out, frame + shift, (npix - shift) * sizeof(std::uint16_t));
    std::memcpy(out + npix - shift, frame, shift * sizeof(std::uint16_t));
  }
  return input;
}

CoreRow time_kernel(const CoreCase& c, FillKernel kernel, const HostBlock& input,
                    CudaHistogramEngine& engine) {
  const std::size_t batch_bytes = input.size() / 2;
  engine.counts().pin_kernel(kernel);
  std::uint64_t batch = 0;
  const auto submit = [&] { engine.submit(input.data() + batch++ % 2 * batch_bytes, c.frames); };
  submit();
  engine.flush();
  std::vector<double> copy;
  std::vector<double> fill;
  std::vector<double> pipeline;
  for (int r = 0; r < repeats; ++r) {
    const double t = seconds([&] {
      for (int i = 0; i < batches_per_repeat; ++i) submit();
      engine.flush();
    });
    pipeline.push_back(static_cast<double>(batch_bytes) * batches_per_repeat / t * 1e-9);
    copy.push_back(static_cast<double>(batch_bytes) / engine.slots().copy_seconds(batch - 1) * 1e-9);
    fill.push_back(static_cast<double>(batch_bytes) / engine.slots().kernel_seconds(batch - 1) * 1e-9);
  }
  return {c, kernel, false, median(copy), median(fill), median(pipeline)};
}

/// A hash per bin row would not see two pixels exchanged; the counts themselves are compared, row by row.
void check_equal(CudaHistogramEngine& a, CudaHistogramEngine& b) {
  const auto& spec = a.spec();
  const std::uint32_t rows_at_once =
      std::max<std::uint32_t>(1, (64U << 20) / (spec.shape.cols * spec.axis.bins * 4));
  std::vector<std::uint32_t> left(std::size_t{rows_at_once} * spec.shape.cols * spec.axis.bins);
  std::vector<std::uint32_t> right(left.size());
  const std::uint32_t step =
      std::max(rows_at_once, spec.shape.rows / 8);  // all of a small one, an eighth of a large
  for (std::uint32_t row = 0; row < spec.shape.rows; row += step) {
    const CountWindow window{{row, std::min(row + rows_at_once, spec.shape.rows), 0, spec.shape.cols},
                             {0, spec.axis.bins},
                             StorageType::u32};
    CountTarget target;
    target.row_stride = static_cast<std::ptrdiff_t>(std::size_t{spec.shape.cols} * spec.axis.bins * 4);
    target.counts = reinterpret_cast<std::byte*>(left.data());
    a.read(window, target);
    target.counts = reinterpret_cast<std::byte*>(right.data());
    b.read(window, target);
    if (left != right)
      throw std::runtime_error("the kernels disagree from row " + std::to_string(row) + " on");
  }
}

}  // namespace

std::vector<CoreRow> run_core(const CoreCase& c) {
  MemoryAccount account;
  PinnedMemory pinned(account, 0);
  const HostBlock input = make_input(c, pinned);
  CudaHistogramEngine plain(spec_of(c), c.frames, {});
  std::vector<CoreRow> rows{time_kernel(c, FillKernel::plain, input, plain)};
  if (tile_shared_bytes(c.bins) <= shared_bytes_per_block()) {
    CudaHistogramEngine tile(spec_of(c), c.frames, {});
    rows.push_back(time_kernel(c, FillKernel::tile, input, tile));
    check_equal(plain, tile);
  }
  const FillKernel chosen = choose_kernel({c.bins, c.frames, shared_bytes_per_block()});
  for (auto& row : rows) row.chosen = row.kernel == chosen;
  return rows;
}

TransposeRow run_transpose(FrameShape shape, std::uint32_t bins) {
  MemoryAccount account;
  const CudaDeviceStreams device(0);
  const std::size_t cells = shape.pixels() * (std::size_t{bins} + flow_count);
  const DeviceBuffer counts(cells * sizeof(std::uint32_t), account);
  const std::size_t bytes = shape.pixels() * bins * sizeof(std::uint32_t);
  const DeviceBuffer out(bytes, account);
  const DeviceBuffer capped(sizeof(unsigned long long), account);
  const auto stream = device.compute().get();
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(counts.data(), 1, counts.size(), stream));
  CudaReadKernel read;
  read.counts = counts.data<std::uint32_t>();
  read.npix = shape.pixels();
  read.cols = shape.cols;
  read.bins = bins;
  read.window = {Rect::whole(shape), {0, bins}, StorageType::u32};
  TransposeRow row{shape, bins, 0, 0};
  row.seconds = stream_seconds(device.compute(), [&] {
    launch_read_bins(read, out.data(), capped.data<unsigned long long>(), stream);
  });
  row.floor_seconds = stream_seconds(device.compute(), [&] {
    PIXHIST_CUDA_CHECK(cudaMemcpyAsync(out.data(), counts.data(), bytes, cudaMemcpyDeviceToDevice, stream));
  });
  return row;
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
