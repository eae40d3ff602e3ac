#include "core/accumulators/pixel_histogram/cuda_count_read.hpp"

#include <algorithm>

#include "core/memory/nvtx_range.hpp"

namespace pixhist {
namespace {

std::size_t planes_wanted(const CountTarget& target) {
  return static_cast<std::size_t>(
      std::count_if(target.flow.begin(), target.flow.end(), [](auto* plane) { return plane != nullptr; }));
}

std::size_t row_bytes(const CountWindow& w) {
  return std::size_t{w.pixels.cols()} * w.bins.size() * size_of(w.dtype);
}

bool flips(const CountTarget& target) {
  return target.counts != nullptr ? target.row_stride < 0 : target.flow_row_stride < 0;
}

/// Rows of `width` bytes, packed on the device, to host rows `stride` bytes apart; with a negative stride the
/// rows already lie in the order of memory and `to` is where the window's first row, the highest, goes.
void copy_rows(std::byte* to, std::ptrdiff_t stride, const std::byte* from, std::size_t width,
               std::size_t rows, cudaStream_t stream) {
  if (stride < 0) {
    to += stride * static_cast<std::ptrdiff_t>(rows - 1);
    stride = -stride;
  }
  const auto pitch = static_cast<std::size_t>(stride);
  constexpr std::size_t longest_pitch = 0x7FFFFFFF;
  if (pitch == width || rows == 1) {
    PIXHIST_CUDA_CHECK(cudaMemcpyAsync(to, from, width * rows, cudaMemcpyDeviceToHost, stream));
  } else if (pitch <= longest_pitch) {
    PIXHIST_CUDA_CHECK(
        cudaMemcpy2DAsync(to, pitch, from, width, width, rows, cudaMemcpyDeviceToHost, stream));
  } else {
    for (std::size_t r = 0; r < rows; ++r)
      PIXHIST_CUDA_CHECK(
          cudaMemcpyAsync(to + r * pitch, from + r * width, width, cudaMemcpyDeviceToHost, stream));
  }
}

}  // namespace

HostBlock CudaVerdictPool::take() {
  if (free_.empty()) {
    free_.reserve(++made_);  // so that giving back never allocates
    return pinned_.allocate(sizeof(CudaReadVerdict), Paging::populate);
  }
  HostBlock block = std::move(free_.back());
  free_.pop_back();
  return block;
}

void CudaVerdictPool::give_back(HostBlock block) noexcept {
  if (block.size() != 0) free_.push_back(std::move(block));
}

CudaCountRead::CudaCountRead(const CudaReadKernel& read, const CountTarget& target,
                             const CudaFillTotals* totals, const CudaDeviceStreams& device,
                             CudaVerdictPool& verdicts)
    : device_(device),
      verdicts_(verdicts),
      bins_bytes_(target.counts == nullptr ? 0 : align16(row_bytes(read.window) * read.window.pixels.rows())),
      flow_bytes_(read.window.pixels.pixels() * sizeof(std::uint32_t)),
      verdict_(sizeof(Verdict), device.compute()),
      staging_(std::max<std::size_t>(bins_bytes_ + flow_bytes_ * planes_wanted(target), 1), device.compute()),
      verdict_on_host_(verdicts.take()) {
  const NvtxRange range("snapshot");
  enqueue_kernels(read, target, totals);
  enqueue_copies(read, target);
}

void CudaCountRead::enqueue_kernels(CudaReadKernel read, const CountTarget& target,
                                    const CudaFillTotals* totals) {
  const auto stream = device_.compute().get();
  auto* verdict = verdict_.data<Verdict>();
  read.flip_rows = flips(target);
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(&verdict->capped, 0, sizeof verdict->capped, stream));
  PIXHIST_CUDA_CHECK(
      cudaMemcpyAsync(&verdict->totals, totals, sizeof *totals, cudaMemcpyDeviceToDevice, stream));
  if (bins_bytes_ != 0) launch_read_bins(read, staging_.data(), &verdict->capped, stream);
  std::byte* plane = staging_.data() + bins_bytes_;
  for (std::size_t k = 0; k < flow_count; ++k) {
    if (target.flow[k] == nullptr || flow_bytes_ == 0) continue;
    launch_read_flow(read, static_cast<Flow>(k), reinterpret_cast<std::uint32_t*>(plane), stream);
    plane += flow_bytes_;
  }
  copied_on_device_.record(device_.compute());
}

void CudaCountRead::enqueue_copies(const CudaReadKernel& read, const CountTarget& target) {
  copied_on_device_.hold(device_.read());
  const auto stream = device_.read().get();
  const Rect& pixels = read.window.pixels;
  if (bins_bytes_ != 0)
    copy_rows(target.counts, target.row_stride, staging_.data(), row_bytes(read.window), pixels.rows(),
              stream);
  const std::byte* plane = staging_.data() + bins_bytes_;
  constexpr auto cell = static_cast<std::ptrdiff_t>(sizeof(std::uint32_t));
  for (auto* to : target.flow) {
    if (to == nullptr || flow_bytes_ == 0) continue;
    copy_rows(reinterpret_cast<std::byte*>(to), target.flow_row_stride * cell, plane,
              pixels.cols() * sizeof(std::uint32_t), pixels.rows(), stream);
    plane += flow_bytes_;
  }
  PIXHIST_CUDA_CHECK(cudaMemcpyAsync(verdict_on_host_.data(), verdict_.data(), sizeof(Verdict),
                                     cudaMemcpyDeviceToHost, stream));
  on_host_.record(device_.read());
}

bool CudaCountRead::ready() {
  device_.use();
  return on_host_.done();
}

}  // namespace pixhist
