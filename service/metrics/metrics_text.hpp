#pragma once
// /metrics: counters are plain atomics, read here when Prometheus asks; a scrape never blocks a data thread.

#include <string>

#include "service/status/service_view.hpp"

namespace pixhist {

/// The whole exposition (Prometheus text format 0.0.4). Names and labels: docs/operations.md.
std::string metrics_text(const ServiceView& view);

}  // namespace pixhist
