#include "service/ingest_parts.hpp"

#include <algorithm>

#include "service/config/memory_plan.hpp"

namespace pixhist {
namespace {

/// What a sender and the kernel hold of one connection, as a rule at most.
constexpr std::uint64_t queued_outside_bytes = 64ULL << 20;
/// Of the configuration, too.
constexpr std::uint64_t largest_window = 1 << 20;

std::size_t data_sockets(const Config& config) {
  std::size_t sockets = 0;
  for (const auto& source : config.sources) sockets += source.endpoints.size();
  return sockets;
}

ExpectedFrame expected_frame(const Config& config, std::size_t source) {
  return {config.sources[source].shape, config.pixel_type};
}

}  // namespace

/// One takes 4 to 5 GB/s. More than data sockets are of no use, and those that share a core wake each other
/// for every message: with as many as cores in use, the CPU time of a byte goes up more than the rate.
int io_threads(const Config& config, unsigned cores) {
  const std::size_t most = std::clamp<std::size_t>(cores / 4, 1, 16);
  return static_cast<int>(std::min(data_sockets(config), most));
}

int most_sockets(const Config& config) {
  constexpr std::size_t zeromq_default = 1023;
  return static_cast<int>(std::max(3 * data_sockets(config), zeromq_default));
}

/// Its choice is the thread with the fewest descriptors, and a thread knows of a new one only when it gets
/// round to it.
std::uint64_t io_affinity(std::size_t socket, int threads) {
  return std::uint64_t{1} << (socket % static_cast<std::size_t>(threads));
}

std::uint64_t largest_frame(const Config& config) {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < config.sources.size(); ++i)
    largest = std::max(largest, record_bytes(config, i));
  return largest;
}

std::vector<std::unique_ptr<IngestLane>> make_lanes(const Config& config, HostMemory& memory,
                                                    MemoryAccount& account) {
  const auto shares = ring_shares(config);
  std::vector<std::unique_ptr<IngestLane>> lanes;
  for (std::size_t i = 0; i < config.sources.size(); ++i) {
    for (const auto& endpoint : config.sources[i].endpoints) {
      const auto share = shares.at(lanes.size());
      const auto records = ring_records(share, record_bytes(config, i));
      account.add(MemoryKind::host, records * sizeof(Record));
      // Populated now: a page fault in the receive thread would cost more than the copy.
      lanes.push_back(
          std::make_unique<IngestLane>(i, endpoint, memory.allocate(share, Paging::populate), records));
    }
  }
  return lanes;
}

IngestSocketOptions ingest_options(const Config& config, const IngestLane& lane, std::size_t socket,
                                   std::size_t max_parts) {
  const auto& source = config.sources[lane.source];
  const auto frame_bytes = expected_frame(config, lane.source).bytes();
  IngestSocketOptions options;
  options.kind = source.socket;
  options.bind = source.bind;
  options.endpoint = lane.endpoint;
  options.topic = source.topic;
  options.max_part_bytes = frame_bytes + (1U << 20);
  options.receive_hwm = receive_hwm(config.rcvhwm_bytes, frame_bytes);
  options.max_parts = max_parts;
  options.io_threads = io_affinity(socket, io_threads(config));
  return options;
}

SequenceRules sequence_rules(const Config& config, std::size_t source) {
  SequenceRules rules = config.sources[source].sequence;
  const std::uint64_t sockets = config.sources[source].endpoints.size();
  if (sockets == 1) return rules;
  const std::uint64_t frame_bytes = expected_frame(config, source).bytes();
  const auto in_zeromq = static_cast<std::uint64_t>(receive_hwm(config.rcvhwm_bytes, frame_bytes));
  const std::uint64_t queued = sockets * (in_zeromq + queued_outside_bytes / frame_bytes);  // frames
  const std::uint64_t numbers = queued * std::max<std::uint64_t>(rules.step, 1);
  rules.window = std::max(rules.window, std::min(numbers, largest_window));
  return rules;
}

ReceivePace ingest_pace(const Config& config, const IngestLane& lane, const IngestSocketOptions& options) {
  return receive_pace(expected_frame(config, lane.source).bytes(),
                      static_cast<std::size_t>(options.receive_hwm), config.batch_max_age);
}

}  // namespace pixhist
