#include "service/backend.hpp"

#if PIXHIST_HAVE_CUDA

#include <optional>

#include "core/accumulators/pixel_histogram/cuda_pixel_counts.hpp"
#include "core/memory/cuda_device.hpp"
#include "core/pipeline/cuda_pipeline.hpp"

namespace pixhist {
namespace {

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::uint32_t index, std::optional<FillKernel> kernel, MemoryAccount& account)
      : kernel_(kernel),
        account_(account),
        device_(static_cast<int>(index)),
        pinned_(account, device_.index()) {}

  HostMemory& host_memory() override { return pinned_; }
  std::unique_ptr<PixelCounts> make_counts(HistogramSpec spec) override {
    auto counts = std::make_unique<CudaPixelCounts>(std::move(spec), device_, account_);
    counts->pin_kernel(kernel_);
    counts->share_reserve(reserve_);
    return counts;
  }
  std::unique_ptr<Pipeline> make_pipeline(std::vector<std::vector<Accumulator*>> accumulators,
                                          std::size_t batch_bytes, std::uint32_t max_frames) override {
    return std::make_unique<CudaPipeline>(device_, std::move(accumulators), batch_bytes, max_frames,
                                          account_);
  }
  std::size_t threads() const override { return 0; }

 private:
  std::optional<FillKernel> kernel_;  // pinned
  MemoryAccount& account_;
  CudaDeviceStreams device_;
  PinnedMemory pinned_;
  // On the device that device_ made current.
  std::shared_ptr<CudaReadReserve> reserve_ = std::make_shared<CudaReadReserve>(account_);
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(std::uint32_t device_index, const std::string& policy,
                                           MemoryAccount& account) {
  return std::make_unique<CudaBackend>(device_index, parse_fill_kernel(policy), account);
}

}  // namespace pixhist

#else

#include <stdexcept>

namespace pixhist {

std::unique_ptr<Backend> make_cuda_backend(std::uint32_t, const std::string&, MemoryAccount&) {
  throw std::logic_error("this pixhist was built without CUDA");
}

}  // namespace pixhist

#endif
