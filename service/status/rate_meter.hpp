#pragma once
// Frames and bytes per second per source, and how busy the submit thread was, over the last few seconds:
// frames are accumulated in batches, so a shorter time would show the batches. Writer: main, about twice a
// second.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <span>

#include "service/agents/ingest_lane.hpp"
#include "service/agents/source_progress.hpp"

namespace pixhist {

struct SourceRate {
  std::atomic<double> frames_per_s{0};  // accumulated
  std::atomic<double> bytes_per_s{0};   // received
};

class RateMeter {
 public:
  explicit RateMeter(std::size_t sources) : rates_(sources), samples_(sources) {}

  void sample(std::chrono::nanoseconds now, std::span<IngestLane* const> lanes,
              std::span<SourceProgress* const> sources, const PipelineProgressBoard& pipeline);
  const SourceRate& of(std::size_t source) const { return rates_[source]; }
  /// 0 to 1; 0 until there are two samples.
  double submit_busy_ratio() const { return submit_busy_ratio_.load(); }

 private:
  static constexpr std::size_t samples_kept = 11;  // about five seconds

  struct Sample {
    std::chrono::nanoseconds at{};
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  struct BusySample {
    std::chrono::nanoseconds at{};
    std::uint64_t busy_ns = 0;
  };
  void sample_busy(const BusySample& current);

  std::deque<SourceRate> rates_;
  std::deque<std::deque<Sample>> samples_;  // per source, oldest first
  std::atomic<double> submit_busy_ratio_{0};
  std::deque<BusySample> busy_samples_;
};

}  // namespace pixhist
