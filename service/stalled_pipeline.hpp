#pragma once
// A fault for tests, not a feature: a device that stops finishing batches for as long as a file exists. There
// is no key of the configuration for it; only the variable named below puts it in, and the log warns of it.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/pipeline/pipeline.hpp"

namespace pixhist {

/// Names the file. Unset or empty: nothing is wrapped.
inline constexpr const char* stall_file_variable = "PIXHIST_TEST_STALL_FILE";

/// Around the pipeline of either twin. While the file exists nothing is reported as done, so the slots fill
/// and stay full, and drain() waits. The batches are with the inner pipeline all the while: reads are true of
/// what was submitted, as ever. Submit thread only, but for healthy().
class StalledPipeline final : public Pipeline {
 public:
  StalledPipeline(std::unique_ptr<Pipeline> inner, std::filesystem::path while_it_exists)
      : inner_(std::move(inner)), file_(std::move(while_it_exists)) {}

  std::size_t slots() const override { return inner_->slots(); }
  bool try_submit(Batch& batch) override;
  PipelineProgress progress() override;
  std::uint64_t bad_frames(Ticket ticket) override { return inner_->bad_frames(ticket); }
  BatchSeconds seconds(Ticket ticket) override { return inner_->seconds(ticket); }
  void drain() override;
  bool healthy() override { return inner_->healthy(); }

 private:
  bool stalled() const;

  const std::unique_ptr<Pipeline> inner_;
  const std::filesystem::path file_;
  Ticket submitted_ = 0;
  PipelineProgress told_;  // what progress() last said
};

/// Wraps the pipeline if the variable names a file, and says so by `warn`.
std::unique_ptr<Pipeline> stall_if_told(std::unique_ptr<Pipeline> pipeline,
                                        const std::function<void(const std::string&)>& warn);

}  // namespace pixhist
