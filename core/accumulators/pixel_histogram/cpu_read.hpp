#pragma once
// Reading windows of pixel-major counts: cut to the window, capped at the type handed out.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/accumulators/pixel_histogram/pixel_counts.hpp"
#include "core/threads/worker_pool.hpp"

namespace pixhist {

/// uint32 [pixels][row_cells], the bins of a pixel first; borrowed.
struct CountRows {
  const std::uint32_t* cells = nullptr;
  std::uint32_t cols = 0;
  std::uint32_t bins = 0;
  std::size_t row_cells = 0;  // of the accumulator: bins + flow_count, the flow counters behind the bins

  const std::uint32_t* row(std::size_t pixel) const { return cells + pixel * row_cells; }
};

/// Fills `target` on the pool; returns the cells that window.dtype cut.
std::uint64_t read_counts(const CountRows& rows, const CountWindow& window, const CountTarget& target,
                          WorkerPool& pool);

/// A read that was done when it was begun.
class FinishedRead final : public CountRead {
 public:
  FinishedRead(std::uint64_t capped, std::uint64_t frames) : capped_(capped), frames_(frames) {}
  bool ready() override { return true; }
  std::uint64_t capped() const override { return capped_; }
  std::uint64_t frames() const override { return frames_; }

 private:
  std::uint64_t capped_;
  std::uint64_t frames_;
};

}  // namespace pixhist
