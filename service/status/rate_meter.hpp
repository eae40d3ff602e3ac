#pragma once
// Frames and bytes per second per source over the last few seconds: frames are accumulated in batches, so a
// shorter time would show the batches. Writer: main, about twice a second.

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
              std::span<SourceProgress* const> sources);
  const SourceRate& of(std::size_t source) const { return rates_[source]; }

 private:
  static constexpr std::size_t samples_kept = 11;  // about five seconds

  struct Sample {
    std::chrono::nanoseconds at{};
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  std::deque<SourceRate> rates_;
  std::deque<std::deque<Sample>> samples_;  // per source, oldest first
};

}  // namespace pixhist
