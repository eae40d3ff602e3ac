#include "service/status/rate_meter.hpp"

namespace pixhist {

void RateMeter::sample(std::chrono::nanoseconds now, std::span<IngestLane* const> lanes,
                       std::span<SourceProgress* const> sources) {
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const bool first = last_.count() == 0;
  if (!first && seconds <= 0) return;
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    Seen current{sources[i]->counters.accumulated.get(), 0};
    for (const auto* lane : lanes) {
      if (lane->source == i) current.bytes += lane->counters.received_bytes.get();
    }
    if (!first) {
      rates_[i].frames_per_s.store(static_cast<double>(current.frames - seen_[i].frames) / seconds);
      rates_[i].bytes_per_s.store(static_cast<double>(current.bytes - seen_[i].bytes) / seconds);
    }
    seen_[i] = current;
  }
  last_ = now;
}

}  // namespace pixhist
