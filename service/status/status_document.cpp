#include "service/status/status_document.hpp"

#include <unistd.h>

#include <fstream>

#include "proto/query/reply.hpp"

namespace pixhist {
namespace {

using nlohmann::json;

/// Resident set of the process, in bytes; 0 where /proc is not there.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  if (!(statm >> size >> resident)) return 0;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

json ring_json(const ServiceView& view, std::size_t source) {
  json rings = json::array();
  for (const auto* lane : view.lanes) {
    if (lane->source != source) continue;
    rings.push_back({{"endpoint", lane->endpoint},
                     {"bytes", lane->ring.capacity()},
                     {"used_bytes", lane->ring.used_bytes()},
                     {"high_water_bytes", lane->ring.high_water_bytes()}});
  }
  return rings;
}

json time_or_null(std::uint64_t unix_ms) {
  return unix_ms == 0 ? json() : json(rfc3339(WallTime(std::chrono::milliseconds(unix_ms))));
}

json id_or_null(const std::string& run) { return run.empty() ? json() : json(run); }

json source_json(const ServiceView& view, std::size_t i, const std::optional<Place>& place,
                 const RunInfo& info, const FrameAccount& lifetime, const FrameAccount& run) {
  const auto& progress = *view.sources[i];
  const bool numbered = progress.numbers_known.get() != 0;
  const auto mismatches = view.errors.mismatches();
  const auto mismatch = mismatches.find(progress.name);
  std::uint64_t last_ms = 0;
  for (const auto* counters : receive_counters(view, i))
    last_ms = std::max(last_ms, counters->last_frame_unix_ms.get());
  return {
      {"lifetime", to_json(lifetime)},
      {"run_id", id_or_null(info.run_of_source[i])},
      {"run", to_json(run)},
      {"frames", run.accumulated},
      {"first_frame", numbered ? json(progress.first_frame.get()) : json()},
      {"last_frame", numbered ? json(progress.last_frame.get()) : json()},
      {"last_frame_at", time_or_null(last_ms)},
      {"accumulated_at", time_or_null(progress.accumulated_unix_ms.get())},
      {"frames_per_s", view.rates.of(i).frames_per_s.load()},
      {"bytes_per_s", view.rates.of(i).bytes_per_s.load()},
      {"rings", ring_json(view, i)},
      {"place", place_json(view, i, place)},
      {"mismatch", mismatch == mismatches.end() ? json() : json(mismatch->second)}};
}

json kernels_json(const ServiceView& view) {
  json batches = json::object();
  for (std::size_t k = 0; k < view.kernels.size(); ++k) {
    std::uint64_t n = 0;
    for (const auto* source : view.sources) n += source->batches_of_kernel[k].get();
    batches[std::string(view.kernels[k].name)] = n;
  }
  return batches;
}

json run_json(const ServiceView& view, const RunInfo& run) {
  const auto closed = view.closed_runs.last();
  return {{"id", id_or_null(run.run)},
          {"name", run.name},
          {"started_at", run.run.empty() ? json() : json(rfc3339(run.started_at))},
          {"policy", name_of(view.config.runs_policy)},
          {"closing", id_or_null(run.closing)},
          {"last_closed", closed ? json(closed->snapshot->cut.run) : json()}};
}

json held_json(const ServiceView& view) {
  json held = json::array();
  for (const auto& h : view.held.list())
    held.push_back({{"snapshot", h.id},
                    {"id", h.request_id},
                    {"run", h.snapshot->cut.run},
                    {"frames", h.snapshot->cut.frames()},
                    {"bytes", h.snapshot->counts.size() + h.snapshot->flow.size()},
                    {"expires_at", rfc3339(h.expires_at)}});
  return held;
}

json errors_json(const ServiceView& view) {
  json errors = json::array();
  for (const auto& e : view.errors.notes())
    errors.push_back({{"source", e.source},
                      {"reason", e.reason},
                      {"message", e.message},
                      {"count", e.count},
                      {"last_seen", rfc3339(e.last_seen)}});
  return errors;
}

json memory_json(const ServiceView& view) {
  return {{"host_bytes", view.memory.bytes(MemoryKind::host)},
          {"pinned_bytes", view.memory.bytes(MemoryKind::pinned)},
          {"device_bytes", view.memory.bytes(MemoryKind::device)},
          {"snapshot_bytes", view.snapshot_memory.used()},
          {"snapshot_kept_bytes", view.snapshot_memory.kept()},
          {"snapshot_max_bytes", view.snapshot_memory.max_bytes()},
          {"resident_bytes", resident_bytes()}};
}

}  // namespace

json place_json(const ServiceView& view, std::size_t source, const std::optional<Place>& place) {
  return {{"origin", place ? json{place->row, place->col} : json()},
          {"flip_rows", place ? json(place->flip_rows) : json()},
          {"from", name_of(view.places.origin(source))}};
}

json status_document(const ServiceView& view) {
  const RunInfo run = view.run.info();
  const auto placed = view.places.placed();
  json sources = json::object();
  FrameAccount lifetime_total;
  FrameAccount run_total;
  for (std::size_t i = 0; i < view.sources.size(); ++i) {
    const FrameAccount lifetime = lifetime_account(view, i);
    const FrameAccount of_run = since(lifetime, run.base[i]);
    sources[view.sources[i]->name] = source_json(view, i, placed[i].place, run, lifetime, of_run);
    lifetime_total += lifetime;
    run_total += of_run;
  }
  return {
      {"state", name_of(view.run.state())},
      {"version", PIXHIST_VERSION},
      {"time", rfc3339(view.clock.wall())},
      {"uptime_s", std::chrono::duration<double>(view.clock.now() - view.started).count()},
      {"run", run_json(view, run)},
      {"device", {{"kind", view.device.kind}, {"name", view.device.name}, {"reason", view.device.reason}}},
      {"sources", std::move(sources)},
      {"totals", {{"lifetime", to_json(lifetime_total)}, {"run", to_json(run_total)}}},
      {"batches",
       {{"total", view.pipeline.batches.get()},
        {"in_flight", view.pipeline.batches_in_flight.get()},
        {"by_kernel", kernels_json(view)}}},
      {"queues", {{"commands", view.commands.size()}, {"requests_pending", view.queries.pending.load()}}},
      {"memory", memory_json(view)},
      {"held", held_json(view)},
      {"errors", errors_json(view)},
      {"jobs", json::array()}};
}

}  // namespace pixhist
