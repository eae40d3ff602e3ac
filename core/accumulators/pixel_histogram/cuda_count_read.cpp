#include "core/accumulators/pixel_histogram/cuda_count_read.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/memory/nvtx_range.hpp"

namespace pixhist {
namespace {

constexpr std::size_t verdict_bytes = align16(sizeof(CudaReadVerdict));

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

std::vector<CudaReadPart> read_parts(CudaReadKernel read, const CountTarget& target) {
  const Rect& pixels = read.window.pixels;
  std::vector<CudaReadPart> parts;
  if (target.counts != nullptr) {
    read.flip_rows = target.row_stride < 0;
    CudaReadPart part;
    part.row_bytes = std::size_t{pixels.cols()} * read.window.cells() * size_of(read.window.dtype);
    part.rows = pixels.rows();
    part.to = target.counts;
    part.stride = target.row_stride;
    part.launch = [read](std::byte* device, unsigned long long* capped, cudaStream_t stream) {
      launch_read_bins(read, device, capped, stream);
    };
    parts.push_back(std::move(part));
  }
  for (std::size_t k = 0; k < flow_count; ++k) {
    if (target.flow[k] == nullptr) continue;
    read.flip_rows = target.flow_row_stride < 0;
    CudaReadPart part;
    part.row_bytes = pixels.cols() * sizeof(std::uint32_t);
    part.rows = pixels.rows();
    part.to = reinterpret_cast<std::byte*>(target.flow[k]);
    part.stride = target.flow_row_stride * static_cast<std::ptrdiff_t>(sizeof(std::uint32_t));
    part.launch = [read, k](std::byte* device, unsigned long long*, cudaStream_t stream) {
      launch_read_flow(read, static_cast<Flow>(k), reinterpret_cast<std::uint32_t*>(device), stream);
    };
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<CudaReadPart> reduce_parts(CudaReduceKernel reduce, const ReductionTarget& target) {
  const ReductionRequest& request = reduce.request;
  const bool spectrum = request.kind == ReductionKind::spectrum;
  reduce.flip_rows = !spectrum && target.row_stride < 0;
  CudaReadPart part;
  part.row_bytes = value_bytes(request.kind) * (spectrum ? request.bins.size() : request.pixels.cols());
  part.rows = spectrum ? 1 : request.pixels.rows();
  part.to = target.values;
  part.stride = spectrum ? static_cast<std::ptrdiff_t>(part.row_bytes) : target.row_stride;
  part.launch = [reduce](std::byte* device, unsigned long long*, cudaStream_t stream) {
    launch_reduce(reduce, device, stream);
  };
  return {std::move(part)};
}

std::size_t CudaCountRead::device_bytes(const std::vector<CudaReadPart>& parts) {
  std::size_t bytes = verdict_bytes;
  for (const auto& part : parts) bytes += align16(part.bytes());
  return bytes;
}

CudaCountRead::CudaCountRead(const std::vector<CudaReadPart>& parts, const CudaFillTotals* totals,
                             const CudaDeviceStreams& device, CudaVerdictPool& verdicts,
                             const CudaReadReserve* reserve)
    : device_(device), verdicts_(verdicts), reserve_(reserve) {
  const std::size_t bytes = device_bytes(parts);
  if (reserve_ == nullptr) {
    own_.emplace(bytes, device.compute());
  } else {
    if (bytes > reserve_->size())
      throw std::logic_error("a reserved read needs " + std::to_string(bytes) + " bytes, reserved are " +
                             std::to_string(reserve_->size()));
    reserve_->left().hold(device.compute());
  }
  staging_ = own_ ? own_->data() : reserve_->data();
  verdict_on_host_ = verdicts.take();
  const NvtxRange range("snapshot");
  enqueue_kernels(parts, totals);
  enqueue_copies(parts);
}

void CudaCountRead::enqueue_kernels(const std::vector<CudaReadPart>& parts, const CudaFillTotals* totals) {
  const auto stream = device_.compute().get();
  auto* verdict = reinterpret_cast<Verdict*>(staging_);
  PIXHIST_CUDA_CHECK(cudaMemsetAsync(&verdict->capped, 0, sizeof verdict->capped, stream));
  PIXHIST_CUDA_CHECK(
      cudaMemcpyAsync(&verdict->totals, totals, sizeof *totals, cudaMemcpyDeviceToDevice, stream));
  std::byte* result = staging_ + verdict_bytes;
  for (const auto& part : parts) {
    if (part.bytes() == 0) continue;
    part.launch(result, &verdict->capped, stream);
    result += align16(part.bytes());
  }
  copied_on_device_.record(device_.compute());
}

void CudaCountRead::enqueue_copies(const std::vector<CudaReadPart>& parts) {
  copied_on_device_.hold(device_.read());
  const auto stream = device_.read().get();
  const std::byte* result = staging_ + verdict_bytes;
  for (const auto& part : parts) {
    if (part.bytes() == 0) continue;
    copy_rows(part.to, part.stride, result, part.row_bytes, part.rows, stream);
    result += align16(part.bytes());
  }
  PIXHIST_CUDA_CHECK(
      cudaMemcpyAsync(verdict_on_host_.data(), staging_, sizeof(Verdict), cudaMemcpyDeviceToHost, stream));
  on_host_.record(device_.read());
  if (reserve_ != nullptr) reserve_->left().record(device_.read());
}

bool CudaCountRead::ready() {
  device_.use();
  return on_host_.done();
}

}  // namespace pixhist
