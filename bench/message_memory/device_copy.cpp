#include "bench/message_memory/device_copy.hpp"

#include <atomic>
#include <stdexcept>

#if PIXHIST_HAVE_CUDA
#include <array>
#include <vector>

#include "core/memory/cuda_device.hpp"
#endif

namespace pixhist::bench {
namespace {

class Nothing final : public DeviceCopy {
 public:
  void submit(std::size_t, std::span<const Piece>) override {}
  bool done(std::size_t) override { return true; }
};

class TouchPages final : public DeviceCopy {
 public:
  void submit(std::size_t, std::span<const Piece> pieces) override {
    constexpr std::size_t page = 4096;
    std::size_t sum = 0;
    for (const auto& piece : pieces) {
      for (std::size_t at = 0; at < piece.size(); at += page) sum += static_cast<std::size_t>(piece[at]);
    }
    sum_.store(sum_.load(std::memory_order_relaxed) + sum, std::memory_order_relaxed);
  }
  bool done(std::size_t) override { return true; }

 private:
  std::atomic<std::size_t> sum_{0};  // atomic only so that the reads are not optimised away
};

#if PIXHIST_HAVE_CUDA
enum class Calls : bool { one_a_piece, one_a_batch };

class CopyToDevice final : public DeviceCopy {
 public:
  CopyToDevice(std::size_t batch_bytes, Calls calls) : calls_(calls), device_(0) {
    for (auto& slot : slots_) slot = DeviceBuffer(batch_bytes, account_);
  }

  void submit(std::size_t slot, std::span<const Piece> pieces) override {
    device_.use();
    if (calls_ == Calls::one_a_batch && pieces.size() > 1)
      copy_together(slots_[slot], pieces);
    else
      copy_each(slots_[slot], pieces);
    copied_[slot].record(device_.copy());
  }
  bool done(std::size_t slot) override { return copied_[slot].done(); }

 private:
  void copy_each(const DeviceBuffer& to, std::span<const Piece> pieces) {
    std::size_t at = 0;
    for (const auto& piece : pieces) {
      PIXHIST_CUDA_CHECK(cudaMemcpyAsync(to.data() + at, piece.data(), piece.size(), cudaMemcpyHostToDevice,
                                         device_.copy().get()));
      at += piece.size();
    }
  }

  void copy_together(const DeviceBuffer& to, std::span<const Piece> pieces) {
    to_.clear();
    from_.clear();
    bytes_.clear();
    std::size_t at = 0;
    for (const auto& piece : pieces) {
      to_.push_back(to.data() + at);
      from_.push_back(piece.data());
      bytes_.push_back(piece.size());
      at += piece.size();
    }
    cudaMemcpyAttributes in_stream_order{};
    in_stream_order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t from_the_first = 0;
    PIXHIST_CUDA_CHECK(cudaMemcpyBatchAsync(to_.data(), from_.data(), bytes_.data(), pieces.size(),
                                            &in_stream_order, &from_the_first, 1, device_.copy().get()));
  }

  const Calls calls_;
  MemoryAccount account_;
  CudaDeviceStreams device_;
  std::array<DeviceBuffer, 2> slots_;
  std::array<CudaEvent, 2> copied_;
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::size_t> bytes_;
};
#endif

}  // namespace

std::unique_ptr<DeviceCopy> make_device_copy(const std::string& kind, std::size_t batch_bytes) {
  if (kind == "none") return std::make_unique<Nothing>();
  if (kind == "touch") return std::make_unique<TouchPages>();
#if PIXHIST_HAVE_CUDA
  if (kind == "copy") return std::make_unique<CopyToDevice>(batch_bytes, Calls::one_a_piece);
  if (kind == "grouped") return std::make_unique<CopyToDevice>(batch_bytes, Calls::one_a_batch);
#endif
  throw std::invalid_argument("no device copy of the kind '" + kind + "' in this build, for batches of " +
                              std::to_string(batch_bytes) + " bytes");
}

}  // namespace pixhist::bench
