#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/accumulators/pixel_histogram/count_checks.hpp"
#include "core/accumulators/pixel_histogram/cuda_count_read.hpp"
#include "core/accumulators/pixel_histogram/cuda_read_launch.hpp"

namespace pixhist {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();

/// Checked before anything is allocated: what can never fit is an argument, what does not fit now is not.
HistogramSpec checked(HistogramSpec spec, const CudaDeviceStreams& device) {
  check(spec);
  device.use();
  std::size_t free = 0;
  std::size_t total = 0;
  PIXHIST_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  if (count_bytes(spec) > total) refuse_counts(spec, "the device", total);
  return spec;
}

}  // namespace

CudaPixelCounts::CudaPixelCounts(HistogramSpec spec, const CudaDeviceStreams& device, MemoryAccount& account)
    : spec_(checked(std::move(spec), device)),
      device_(device),
      pinned_(account, device.index()),
      reserve_(std::make_shared<CudaReadReserve>(account)),
      filler_(make_cuda_filler(spec_)),
      shape_{spec_.axis.bins, shared_bytes_per_block()},
      policy_(shape_),
      counts_(count_bytes(spec_), account),
      totals_(sizeof(CudaFillTotals), account),
      totals_on_host_(pinned_.allocate(2 * sizeof(CudaFillTotals), Paging::populate)) {
  if (!spec_.mask.empty()) {
    mask_ = DeviceBuffer(spec_.mask.size(), account);
    PIXHIST_CUDA_CHECK(cudaMemcpyAsync(mask_.data(), spec_.mask.data(), spec_.mask.size(),
                                       cudaMemcpyHostToDevice, device_.compute().get()));
  }
  zero();
}

void CudaPixelCounts::accumulate(const DecodedBatch& batch) {
  device_.use();
  const auto frames = static_cast<std::uint32_t>(batch.frames.size());
  if (frames == 0) return;
  learn_from_window();
  CudaFill fill;
  fill.batch = batch;
  fill.counts = counts_.data<std::uint32_t>();
  fill.mask = mask_.size() == 0 ? nullptr : mask_.data<std::uint8_t>();
  fill.totals = totals_.data<CudaFillTotals>();
  fill.saturating = bound_ + batch.good_frames > most;
  const FillKernel kernel = policy_.choose(frames, fill.saturating);
  filler_->launch(fill, kernel, device_.compute().get());
  copy_totals_to_host();
  frames_ += batch.good_frames;
  bound_ = std::min(bound_ + batch.good_frames, most);
  saturated_.reset();
  ++batches_of_kernel_[static_cast<std::size_t>(kernel)];
}

void CudaPixelCounts::pin_kernel(std::optional<FillKernel> kernel) {
  if (kernel && !kernel_can(*kernel, shape_, false)) {
    std::string can;
    for (const auto other : all_fill_kernels) {
      if (kernel_can(other, shape_, false)) can += (can.empty() ? "" : ", ") + std::string(name_of(other));
    }
    throw std::domain_error("kernel " + std::string(name_of(*kernel)) + " cannot count " +
                            std::to_string(shape_.bins) + " bins with " +
                            std::to_string(shape_.shared_bytes_per_block) +
                            " bytes of shared memory a block, allowed: " + can);
  }
  policy_.pin(kernel);
}

std::vector<KernelRow> CudaPixelCounts::kernels() const {
  static_assert(fill_kernel_count <= most_kernels);
  std::vector<KernelRow> rows;
  for (const auto kernel : all_fill_kernels)
    rows.push_back({name_of(kernel), when_chosen(kernel), kernel_can(kernel, shape_, false)});
  return rows;
}

/// What the device has brought back so far; a batch or two behind what was submitted. Read while the copy
/// engine writes: values and misses may belong to different batches, which a ratio over many pixels bears.
void CudaPixelCounts::learn_from_window() {
  const volatile auto& totals = *totals_on_host();
  const std::uint64_t values = totals.window_values;
  const std::uint64_t misses = totals.window_misses;
  if (values <= window_values_seen_) return;
  policy_.learn(values - window_values_seen_, misses - std::min<std::uint64_t>(window_misses_seen_, misses));
  window_values_seen_ = values;
  window_misses_seen_ = misses;
}

void CudaPixelCounts::copy_totals_to_host() {
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(totals_on_host(), totals_.data(), sizeof(CudaFillTotals),
                                     cudaMemcpyDeviceToHost, device_.compute().get()));
}

void CudaPixelCounts::zero() {
  device_.use();
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(counts_.data(), 0, counts_.size(), device_.compute().get()));
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(totals_.data(), 0, totals_.size(), device_.compute().get()));
  current_totals_ = 1 - current_totals_;
  *totals_on_host() = {};
  window_values_seen_ = 0;
  window_misses_seen_ = 0;
  frames_ = 0;
  bound_ = 0;
  saturated_ = 0;
}

FlowTotals CudaPixelCounts::flow_totals() const {
  const volatile auto& totals = *totals_on_host();
  return {totals.flow[0], totals.flow[1], totals.flow[2], totals.flow[3]};
}

CudaReadKernel CudaPixelCounts::read_kernel(const CountWindow& window) const {
  check_window(spec_, window);
  CudaReadKernel read;
  read.counts = counts_.data<std::uint32_t>();
  read.npix = spec_.shape.pixels();
  read.cols = spec_.shape.cols;
  read.bins = spec_.axis.bins;
  read.window = window;
  return read;
}

std::unique_ptr<CountRead> CudaPixelCounts::begin_read(const CountWindow& window, const CountTarget& target) {
  device_.use();
  return begin(read_parts(read_kernel(window), target));
}

void CudaPixelCounts::reserve_read() {
  device_.use();
  const std::size_t plane = spec_.shape.pixels() * sizeof(std::uint32_t);
  reserve_->grow(align16(sizeof(CudaReadVerdict)) + align16(plane * spec_.axis.bins) +
                 flow_count * align16(plane));
  reserved_verdicts_.give_back(reserved_verdicts_.take());
}

std::unique_ptr<CountRead> CudaPixelCounts::begin_reserved_read(const CountWindow& window,
                                                                const CountTarget& target) {
  device_.use();
  return std::make_unique<CudaCountRead>(read_parts(read_kernel(window), target),
                                         totals_.data<CudaFillTotals>(), device_, reserved_verdicts_,
                                         reserve_.get());
}

std::unique_ptr<CountRead> CudaPixelCounts::begin_reduce(const ReductionRequest& request,
                                                         const ReductionTarget& target) {
  check_window(spec_, {request.pixels, request.bins});
  device_.use();
  CudaReduceKernel reduce;
  reduce.counts = counts_.data<std::uint32_t>();
  reduce.npix = spec_.shape.pixels();
  reduce.cols = spec_.shape.cols;
  reduce.request = request;
  return begin(reduce_parts(reduce, target));
}

std::unique_ptr<CountRead> CudaPixelCounts::begin(const std::vector<CudaReadPart>& parts) {
  return std::make_unique<CudaCountRead>(parts, totals_.data<CudaFillTotals>(), device_, verdicts_);
}

std::uint64_t CudaPixelCounts::saturated_cells() {
  if (bound_ < most) return 0;
  if (!saturated_) {
    device_.use();
    const AsyncBuffer n(sizeof(unsigned long long), device_.compute());
    const auto stream = device_.compute().get();
    PIXHIST_CUDA_CHECK(cudaMemsetAsync(n.data(), 0, sizeof(unsigned long long), stream));
    launch_count_saturated(counts_.data<std::uint32_t>(), counts_.size() / sizeof(std::uint32_t),
                           n.data<unsigned long long>(), stream);
    unsigned long long found = 0;
    PIXHIST_CUDA_CHECK(cudaMemcpyAsync(&found, n.data(), sizeof found, cudaMemcpyDeviceToHost, stream));
    device_.compute().synchronize();
    saturated_ = found;
  }
  return *saturated_;
}

void CudaPixelCounts::restore(std::span<const std::uint32_t> cells, std::uint64_t frames,
                              std::uint64_t bound) {
  const std::size_t npix = spec_.shape.pixels();
  const std::size_t slots = std::size_t{spec_.axis.bins} + flow_count;
  check_stored_cells(spec_, cells, bound);
  std::vector<std::uint32_t> bin_major(cells.size());
  CudaFillTotals totals{};
  totals.frames = frames;
  for (std::size_t p = 0; p < npix; ++p) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const std::uint32_t count = cells[p * slots + slot];
      bin_major[slot * npix + p] = count;
      if (slot >= spec_.axis.bins) totals.flow[slot - spec_.axis.bins] += count;
    }
  }
  device_.use();
  const auto stream = device_.compute().get();
  PIXHIST_CUDA_CHECK(
      cudaMemcpyAsync(counts_.data(), bin_major.data(), counts_.size(), cudaMemcpyHostToDevice, stream));
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(totals_.data(), &totals, sizeof totals, cudaMemcpyHostToDevice, stream));
  copy_totals_to_host();
  device_.compute().synchronize();
  frames_ = frames;
  bound_ = std::min<std::uint64_t>(bound, most);
  saturated_.reset();
}

}  // namespace pixhist
