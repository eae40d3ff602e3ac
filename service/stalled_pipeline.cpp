#include "service/stalled_pipeline.hpp"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace pixhist {
namespace {

constexpr auto look_again = std::chrono::milliseconds(1);

}  // namespace

bool StalledPipeline::stalled() const {
  std::error_code unreadable;  // counts as absent
  return std::filesystem::exists(file_, unreadable);
}

bool StalledPipeline::try_submit(Batch& batch) {
  if (submitted_ - progress().accumulated >= slots() || !inner_->try_submit(batch)) return false;
  ++submitted_;
  return true;
}

PipelineProgress StalledPipeline::progress() {
  if (!stalled()) told_ = inner_->progress();
  return told_;
}

void StalledPipeline::drain() {
  while (stalled()) std::this_thread::sleep_for(look_again);
  inner_->drain();
  told_ = inner_->progress();  // stays told, also if the file is back by now
}

std::unique_ptr<Pipeline> stall_if_told(std::unique_ptr<Pipeline> pipeline,
                                        const std::function<void(const std::string&)>& warn) {
  const char* const file = std::getenv(stall_file_variable);
  if (file == nullptr || *file == '\0') return pipeline;
  warn("FOR TESTS ONLY: while the file " + std::string(file) +
       " exists the device finishes no batch, so nothing is accumulated. Unset " + stall_file_variable +
       " if this is no test");
  return std::make_unique<StalledPipeline>(std::move(pipeline), file);
}

}  // namespace pixhist
