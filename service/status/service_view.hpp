#pragma once
// Everything a reader may look at while the service runs: for `info`, `status`, the metrics and HTTP.
// All of it is safe to read from any thread and outlives the readers.

#include <chrono>
#include <string>
#include <vector>

#include "core/memory/host_memory.hpp"
#include "core/time/clock.hpp"
#include "service/agents/closed_runs.hpp"
#include "service/agents/command_queue.hpp"
#include "service/agents/ingest_lane.hpp"
#include "service/agents/place_board.hpp"
#include "service/agents/run_board.hpp"
#include "service/agents/source_progress.hpp"
#include "service/config/config.hpp"
#include "service/query/held_snapshots.hpp"
#include "service/query/snapshot_memory.hpp"
#include "service/status/error_board.hpp"
#include "service/status/query_stats.hpp"
#include "service/status/rate_meter.hpp"

namespace pixhist {

struct DeviceChoice {
  std::string kind;    // cpu | cuda
  std::string name;    // of the processor or the card
  std::string reason;  // why this one
};

struct ServiceView {
  const Config& config;
  const Clock& clock;
  DeviceChoice device;
  std::size_t cpu_threads = 0;  // accumulating
  std::vector<IngestLane*> lanes;
  std::vector<SourceProgress*> sources;
  const PlaceBoard& places;
  std::vector<KernelRow> kernels;  // the same for all sources
  const RunBoard& run;
  const PipelineProgressBoard& pipeline;
  const MemoryAccount& memory;
  const SnapshotMemory& snapshot_memory;
  const HeldSnapshots& held;
  const ClosedRuns& closed_runs;
  const CommandQueue& commands;
  const ErrorBoard& errors;
  const RateMeter& rates;
  const QueryStats& queries;
  std::chrono::nanoseconds started;  // steady
};

/// The receive counters of one source's rings.
std::vector<const ReceiveCounters*> receive_counters(const ServiceView& view, std::size_t source);

/// The lifetime account of one source.
FrameAccount lifetime_account(const ServiceView& view, std::size_t source);

}  // namespace pixhist
