#include "service/status/rate_meter.hpp"

namespace pixhist {

void RateMeter::sample(std::chrono::nanoseconds now, std::span<IngestLane* const> lanes,
                       std::span<SourceProgress* const> sources) {
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

}  // namespace pixhist
