#include "service/status/rate_meter.hpp"

#include <algorithm>

namespace pixhist {

void RateMeter::sample(std::chrono::nanoseconds now, std::span<IngestLane* const> lanes,
                       std::span<SourceProgress* const> sources, const PipelineProgressBoard& pipeline) {
  sample_busy({now, pipeline.busy_ns.load(std::memory_order_relaxed)});
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    Sample current{now, sources[i]->counters.accumulated.get(), 0};
    for (const auto* lane : lanes) {
      if (lane->source == i) current.bytes += lane->counters.received_bytes.get();
    }
    auto& samples = samples_[i];
    samples.push_back(current);
    if (samples.size() > samples_kept) samples.pop_front();
    const Sample& oldest = samples.front();
    const double seconds = std::chrono::duration<double>(now - oldest.at).count();
    if (seconds <= 0) continue;
    rates_[i].frames_per_s.store(static_cast<double>(current.frames - oldest.frames) / seconds);
    rates_[i].bytes_per_s.store(static_cast<double>(current.bytes - oldest.bytes) / seconds);
  }
}

void RateMeter::sample_busy(const BusySample& current) {
  busy_samples_.push_back(current);
  if (busy_samples_.size() > samples_kept) busy_samples_.pop_front();
  const BusySample& oldest = busy_samples_.front();
  const auto passed = static_cast<double>((current.at - oldest.at).count());
  // A step is booked when it ends, so one that began before the oldest sample could make more than all of it.
  if (passed > 0)
    submit_busy_ratio_.store(std::min(static_cast<double>(current.busy_ns - oldest.busy_ns) / passed, 1.0));
}

}  // namespace pixhist
