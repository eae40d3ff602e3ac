#pragma once
// Frames and bytes per second per source over the last sampling interval. Writer: main, once a second.

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
  explicit RateMeter(std::size_t sources) : rates_(sources), seen_(sources) {}

  void sample(std::chrono::nanoseconds now, std::span<IngestLane* const> lanes,
              std::span<SourceProgress* const> sources);
  const SourceRate& of(std::size_t source) const { return rates_[source]; }

 private:
  struct Seen {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  std::deque<SourceRate> rates_;
  std::deque<Seen> seen_;
  std::chrono::nanoseconds last_{};
};

}  // namespace pixhist
