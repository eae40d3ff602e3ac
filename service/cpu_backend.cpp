#include "core/accumulators/pixel_histogram/cpu_pixel_counts.hpp"
#include "core/pipeline/cpu_pipeline.hpp"
#include "core/threads/worker_pool.hpp"
#include "service/backend.hpp"

namespace pixhist {
namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend(std::uint32_t threads, MemoryAccount& account) : memory_(account), workers_(threads) {}

  HostMemory& host_memory() override { return memory_; }
  std::unique_ptr<PixelCounts> make_counts(HistogramSpec spec) override {
    return std::make_unique<CpuPixelCounts>(std::move(spec), memory_, workers_);
  }
  std::unique_ptr<Pipeline> make_pipeline(std::vector<std::vector<Accumulator*>> accumulators, std::size_t,
                                          std::uint32_t) override {
    return std::make_unique<CpuPipeline>(std::move(accumulators));
  }
  std::size_t threads() const override { return workers_.threads(); }

 private:
  PageableMemory memory_;
  WorkerPool workers_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(std::uint32_t threads, MemoryAccount& account) {
  return std::make_unique<CpuBackend>(threads, account);
}

}  // namespace pixhist
