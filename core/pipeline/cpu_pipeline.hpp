#pragma once
// The CPU twin of the pipeline: accumulates inside try_submit, in the submit thread and the accumulators'
// workers. Nothing is copied: accumulators read the ring.

#include <vector>

#include "core/accumulators/accumulator.hpp"
#include "core/pipeline/pipeline.hpp"

namespace pixhist {

class CpuPipeline final : public Pipeline {
 public:
  /// accumulators[s]: those of source s. They outlive the pipeline.
  explicit CpuPipeline(std::vector<std::vector<Accumulator*>> accumulators)
      : accumulators_(std::move(accumulators)) {}

  std::size_t slots() const override { return 2; }
  bool try_submit(Batch& batch) override;
  PipelineProgress progress() override { return {last_ticket_, last_ticket_}; }
  std::uint64_t bad_frames(Ticket) override { return 0; }  // raw frames cannot fail to decode
  BatchSeconds seconds(Ticket) override { return {0, last_seconds_}; }
  void drain() override {}
  bool healthy() override { return true; }

 private:
  std::vector<std::vector<Accumulator*>> accumulators_;
  Ticket last_ticket_ = 0;
  double last_seconds_ = 0;  // every batch is asked about before the next one: it is done when submitted
};

}  // namespace pixhist
