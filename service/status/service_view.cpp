#include "service/status/service_view.hpp"

namespace pixhist {

std::vector<const ReceiveCounters*> receive_counters(const ServiceView& view, std::size_t source) {
  std::vector<const ReceiveCounters*> counters;
  for (const auto* lane : view.lanes) {
    if (lane->source == source) counters.push_back(&lane->counters);
  }
  return counters;
}

FrameAccount lifetime_account(const ServiceView& view, std::size_t source) {
  return read_account(receive_counters(view, source), view.sources[source]->counters);
}

}  // namespace pixhist
