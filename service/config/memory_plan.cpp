#include "service/config/memory_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/model/histogram_spec.hpp"
#include "core/ring/record.hpp"
#include "service/agents/closed_runs.hpp"

namespace pixhist {
namespace {

constexpr std::uint64_t device_slots = 2;  // a batch is copied while the one before it is counted

std::uint64_t least_share(const Config& config, std::size_t source) {
  const std::uint64_t bytes = least_records_per_ring * record_bytes(config, source);
  return (bytes + ring_page - 1) / ring_page * ring_page;
}

std::uint64_t largest_counts(const Config& config) {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < config.sources.size(); ++i)
    largest = std::max(largest, count_bytes(config.histogram_spec(i)));
  return largest;
}

}  // namespace

std::uint64_t record_bytes(const Config& config, std::size_t source) {
  return align16(config.sources.at(source).shape.pixels() * size_of(config.pixel_type));
}

std::vector<std::uint64_t> ring_shares(const Config& config) {
  std::uint64_t whole = 0;
  for (std::size_t i = 0; i < config.sources.size(); ++i)
    whole += record_bytes(config, i) * config.sources[i].endpoints.size();
  std::vector<std::uint64_t> shares;
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    // In pages first: 2^28 pages at most, times a record below 2^32, stays within 64 bits.
    const std::uint64_t share = config.ring_bytes / ring_page * record_bytes(config, i) /
                                std::max<std::uint64_t>(whole, 1) * ring_page;
    shares.insert(shares.end(), config.sources[i].endpoints.size(), std::max(share, least_share(config, i)));
  }
  return shares;
}

std::uint64_t least_ring_bytes(const Config& config) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < config.sources.size(); ++i)
    bytes += least_share(config, i) * config.sources[i].endpoints.size();
  return bytes;
}

std::size_t ring_records(std::uint64_t share, std::uint64_t record_bytes) {
  return std::clamp<std::uint64_t>(2 * share / record_bytes, 1024, 1 << 20);
}

std::uint64_t MemoryPlan::total(MemoryKind kind) const {
  std::uint64_t bytes = 0;
  for (const auto& item : at_start) bytes += item.kind == kind ? item.bytes : 0;
  return bytes;
}

std::uint64_t MemoryPlan::total() const {
  return total(MemoryKind::host) + total(MemoryKind::pinned) + total(MemoryKind::device);
}

std::uint64_t largest_batch(const Config& config) {
  const auto shares = ring_shares(config);
  std::uint64_t largest = 0;
  std::size_t ring = 0;
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    const std::uint64_t record = record_bytes(config, i);
    for (std::size_t k = 0; k < config.sources[i].endpoints.size(); ++k, ++ring) {
      const std::uint64_t limit = std::min(config.batch_bytes, shares[ring] / 4);
      largest = std::max(largest, std::max(record, std::min(limit, config.batch_frames * record)));
    }
  }
  return largest;
}

std::uint64_t closed_run_bytes(const Config& config) {
  return (config.axis.bins + std::uint64_t{flow_count}) * sizeof(std::uint32_t) * config.detector.pixels();
}

MemoryPlan plan_memory(const Config& config, bool cuda) {
  const MemoryKind ring_kind = cuda ? MemoryKind::pinned : MemoryKind::host;
  const MemoryKind count_kind = cuda ? MemoryKind::device : MemoryKind::host;
  MemoryPlan plan;
  const auto shares = ring_shares(config);
  std::uint64_t descriptors = 0;
  std::size_t ring = 0;
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    const SourceConfig& source = config.sources[i];
    const std::uint64_t record = record_bytes(config, i);
    for (std::size_t k = 0; k < source.endpoints.size(); ++k, ++ring) {
      const std::string number = source.endpoints.size() > 1 ? " socket " + std::to_string(k) : "";
      plan.at_start.push_back({"ring of " + source.name + number, ring_kind, shares[ring]});
      descriptors += ring_records(shares[ring], record) * sizeof(Record);
    }
  }
  plan.at_start.push_back({"ring descriptors", MemoryKind::host, descriptors});
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    const HistogramSpec spec = config.histogram_spec(i);
    plan.at_start.push_back({"counts of " + config.sources[i].name, count_kind, count_bytes(spec)});
    if (!spec.mask.empty())
      plan.at_start.push_back({"pixel mask of " + config.sources[i].name, count_kind, spec.mask.size()});
  }
  if (cuda)
    plan.at_start.push_back({"batch slots", MemoryKind::device, device_slots * largest_batch(config)});
  std::uint64_t closed_runs = 0;
  if (config.runs_policy == RunsPolicy::per_run) {
    closed_runs = ClosedRuns::cuts * closed_run_bytes(config);
    plan.at_start.push_back(
        {"last closed run and the next (within snapshot.max_bytes)", ring_kind, closed_runs});
    if (cuda) plan.at_start.push_back({"read of a closing run", MemoryKind::device, largest_counts(config)});
  }
  plan.up_to.push_back({"snapshots and replies (snapshot.max_bytes)", ring_kind,
                        config.snapshot_max_bytes - std::min(config.snapshot_max_bytes, closed_runs)});
  if (cuda) plan.up_to.push_back({"snapshots on the way", MemoryKind::device, config.snapshot_max_bytes});
  plan.up_to.push_back({"receive queues of ZeroMQ (ring.rcvhwm_bytes per socket)", MemoryKind::host,
                        config.rcvhwm_bytes * ring});
  return plan;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

}  // namespace pixhist
