#include "service/metrics/metrics_text.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <zmq.h>

#include "core/memory/device_query.hpp"
#include "service/metrics/process_metrics.hpp"

namespace pixhist {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

/// Collects families in the order they are named first.
class Exposition {
 public:
  void counter(const std::string& name, const std::string& help, double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;
    family(name, help, MetricType::Counter).metric.push_back(std::move(metric));
  }
  void gauge(const std::string& name, const std::string& help, double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    family(name, help, MetricType::Gauge).metric.push_back(std::move(metric));
  }
  void histogram(const std::string& name, const std::string& help, const DurationHistogram& h,
                 Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    std::uint64_t cumulative = 0;
    for (std::size_t i = 0; i < duration_bounds.size(); ++i) {
      cumulative += h.bucket(i);
      metric.histogram.bucket.push_back({cumulative, duration_bounds[i]});
    }
    cumulative += h.bucket(duration_bounds.size());
    metric.histogram.bucket.push_back({cumulative, std::numeric_limits<double>::infinity()});
    metric.histogram.sample_count = cumulative;  // the +Inf bucket equals the count by construction
    metric.histogram.sample_sum = h.sum_seconds();
    family(name, help, MetricType::Histogram).metric.push_back(std::move(metric));
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  MetricFamily& family(const std::string& name, const std::string& help, MetricType type) {
    for (auto& f : families_) {
      if (f.name == name) return f;
    }
    families_.push_back({name, help, type, {}});
    return families_.back();
  }
  std::vector<MetricFamily> families_;
};

double number(std::uint64_t n) { return static_cast<double>(n); }

void add_account(Exposition& out, const FrameAccount& a, const Labels& source) {
  const auto count = [&](const char* fate, const char* help, std::uint64_t n) {
    out.counter(std::string("pixhist_frames_") + fate + "_total", help, number(n), source);
  };
  count("received", "Messages that should have been frames: rejected + dropped + accepted.", a.received());
  count("accepted", "Frames written into the ring.", a.accepted);
  count("accumulated", "Frames in the histograms.", a.accumulated);
  count("dropped", "Frames dropped because the ring was full (on_full: drop).", a.dropped);
  count("missing", "Frame numbers that never came.", a.missing);
  count("late", "Frames taken after a higher number.", a.late);
  count("incomplete", "Frames taken of which parts were lost before they were sent.", a.incomplete);
  count("restarted", "Sequences begun while another was open.", a.restarted);
  count("control", "Start, end and metadata messages.", a.control);
  out.gauge("pixhist_frames_open", "Unseen frame numbers still inside the window.", number(a.open), source);
  const auto with = [&](const char* label, std::string_view value) {
    Labels labels = source;
    labels.push_back({label, std::string(value)});
    return labels;
  };
  for (std::size_t i = 0; i < reject_reason_count; ++i)
    out.counter("pixhist_frames_rejected_total", "Messages that are no frame of this source, by reason.",
                number(a.rejected[i]), with("reason", reject_reason_names[i]));
  for (std::size_t i = 0; i < discard_reason_count; ++i)
    out.counter("pixhist_frames_discarded_total", "Accepted frames that are in no histogram, by reason.",
                number(a.discarded[i]), with("reason", discard_reason_names[i]));
  out.counter("pixhist_received_bytes_total", "Bytes of all message parts received.",
              number(a.received_bytes), source);
  out.counter("pixhist_pixel_bytes_total", "Pixel bytes of accepted frames.", number(a.pixel_bytes), source);
  out.gauge("pixhist_ring_frames", "Frames in the ring, not yet taken.", number(a.in_ring), source);
  out.gauge("pixhist_frames_in_flight", "Frames taken from the ring, not yet accumulated.",
            number(a.in_flight), source);
}

void add_socket_events(Exposition& out, const ServiceView& view, std::size_t source) {
  const auto sum = [&](const char* event, const SingleWriterCounter SocketEventCounters::*counter) {
    std::uint64_t n = 0;
    for (const auto* lane : view.lanes)
      n += lane->source == source ? (lane->socket_events.*counter).get() : 0;
    out.counter("pixhist_socket_events_total", "What happened to connections of data sockets.", number(n),
                {{"socket", view.sources[source]->name}, {"event", event}});
  };
  sum("connected", &SocketEventCounters::connected);
  sum("disconnected", &SocketEventCounters::disconnected);
  sum("handshake_failed", &SocketEventCounters::handshake_failed);
  sum("reconnect_forced", &SocketEventCounters::reconnect_forced);
}

void add_source(Exposition& out, const ServiceView& view, std::size_t i) {
  const auto& progress = *view.sources[i];
  const Labels source{{"source", progress.name}};
  add_account(out, lifetime_account(view, i), source);
  std::uint64_t bytes = 0;
  std::uint64_t used = 0;
  std::uint64_t high_water = 0;
  std::uint64_t last_ms = 0;
  for (const auto* lane : view.lanes) {
    if (lane->source != i) continue;
    bytes += lane->ring.capacity();
    used += lane->ring.used_bytes();
    high_water += lane->ring.high_water_bytes();
    last_ms = std::max(last_ms, lane->counters.last_frame_unix_ms.get());
  }
  out.gauge("pixhist_ring_bytes", "Size of the ring.", number(bytes), source);
  out.gauge("pixhist_ring_used_bytes", "Ring bytes in use (queue depth).", number(used), source);
  out.gauge("pixhist_ring_high_water_bytes", "Most ring bytes ever in use.", number(high_water), source);
  if (last_ms != 0)
    out.gauge("pixhist_last_frame_timestamp_seconds", "When the last frame was accepted.",
              number(last_ms) * 1e-3, source);
  if (const auto ms = progress.accumulated_unix_ms.get(); ms != 0)
    out.gauge("pixhist_last_accumulated_timestamp_seconds", "When a batch of the source was last accumulated.",
              number(ms) * 1e-3, source);
  add_socket_events(out, view, i);
  const auto values = [&](const char* where, const char* help, std::uint64_t n) {
    out.counter(std::string("pixhist_values_") + where + "_total", help, number(n), source);
  };
  values("below", "Values below the axis.", progress.values_below.get());
  values("above", "Values at or above the end of the axis.", progress.values_above.get());
  values("invalid", "Masked, invalid and NaN values.", progress.values_invalid.get());
  values("other_stage", "Values of another gain stage than the map's.", progress.values_other_stage.get());
  out.gauge("pixhist_cells_saturated", "Counts that have reached 2^32-1, at the last cut.",
            number(progress.cells_saturated.get()), source);
}

void add_pipeline(Exposition& out, const ServiceView& view) {
  out.counter("pixhist_batches_total", "Batches submitted.", number(view.pipeline.batches.get()));
  out.histogram("pixhist_batch_copy_seconds", "Time to copy one batch to the device.",
                view.pipeline.batch_copy);
  out.histogram("pixhist_batch_kernel_seconds", "Time to accumulate one batch.", view.pipeline.batch_kernel);
  out.histogram("pixhist_frame_latency_seconds", "Receipt of a batch's first frame to its accumulation.",
                view.pipeline.frame_latency);
  out.histogram("pixhist_snapshot_seconds", "Time to take and assemble one snapshot.",
                view.pipeline.snapshot);
  out.gauge("pixhist_stage_busy_ratio", "Share of the last five seconds the stage was at work.",
            view.rates.submit_busy_ratio(), {{"stage", "submit"}});
}

void add_queries(Exposition& out, const ServiceView& view) {
  const auto op_name = [](std::size_t o) {
    return o == op_count ? std::string("invalid") : std::string(name_of(static_cast<Op>(o)));
  };
  for (std::size_t o = 0; o <= op_count; ++o) {
    std::uint64_t all = 0;
    for (std::size_t c = 0; c < view.queries.requests[o].size(); ++c) {
      const auto n = view.queries.requests[o][c].load(std::memory_order_relaxed);
      all += n;
      const std::string code = c == 0 ? "ok" : std::string(error_catalog[c - 1].name);
      if (n != 0)
        out.counter("pixhist_requests_total", "Requests answered.", number(n),
                    {{"op", op_name(o)}, {"code", code}});
    }
    if (all != 0)
      out.histogram("pixhist_request_seconds", "Receipt of a request to its answer.", view.queries.seconds[o],
                    {{"op", op_name(o)}});
  }
  out.counter("pixhist_requests_shared_total", "Requests that joined a waiting read of the same.",
              number(view.queries.shared.load()));
  out.gauge("pixhist_requests_pending", "Requests accepted and not yet answered.",
            number(view.queries.pending.load()));
  const auto dropped = [&](const char* reason, const std::atomic<std::uint64_t>& n) {
    out.counter("pixhist_replies_dropped_total", "Replies that could not be handed to the client.",
                number(n.load()), {{"reason", reason}});
  };
  dropped("client_slow", view.queries.replies_dropped_slow);
  dropped("client_gone", view.queries.replies_dropped_gone);
}

void add_run(Exposition& out, const ServiceView& view) {
  const RunState now = view.run.state();
  for (const auto state :
       {RunState::starting, RunState::running, RunState::stopped, RunState::draining, RunState::device_lost})
    out.gauge("pixhist_run_state", "1 for the present state.", state == now ? 1 : 0,
              {{"state", std::string(name_of(state))}});
  const auto started = view.run.info().started_at.time_since_epoch();
  out.gauge("pixhist_run_started_timestamp_seconds", "When the present run began.",
            std::chrono::duration<double>(started).count());
  int major = 0;
  int minor = 0;
  int patch = 0;
  zmq_version(&major, &minor, &patch);
  out.gauge("pixhist_build_info", "Constant 1; the build is in the labels.", 1,
            {{"version", PIXHIST_VERSION},
             {"cuda", cuda_build_text()},
             {"zmq", std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch)}});
}

void add_memory(Exposition& out, const ServiceView& view) {
  out.gauge("pixhist_pinned_bytes", "Page-locked host memory.",
            number(view.memory.bytes(MemoryKind::pinned)));
  out.gauge("pixhist_host_bytes", "Pageable host memory for rings, counts and snapshots.",
            number(view.memory.bytes(MemoryKind::host)));
  out.gauge("pixhist_device_memory_bytes", "Memory on the accelerator.",
            number(view.memory.bytes(MemoryKind::device)), {{"kind", "accumulators"}});
  out.gauge("pixhist_snapshot_bytes",
            "Result memory in use; with what is kept bounded by snapshot.max_bytes.",
            number(view.snapshot_memory.used()));
  out.gauge("pixhist_snapshot_kept_bytes", "Result memory kept for the next results.",
            number(view.snapshot_memory.kept()));
  const ProcessMetrics process = read_process_metrics();
  out.counter("process_cpu_seconds_total", "User and system CPU time.", process.cpu_seconds);
  out.gauge("process_resident_memory_bytes", "Resident memory.", process.resident_bytes);
  out.gauge("process_virtual_memory_bytes", "Virtual memory.", process.virtual_bytes);
  out.gauge("process_open_fds", "Open file descriptors.", process.open_fds);
  out.gauge("process_max_fds", "Limit of open file descriptors.", process.max_fds);
  out.gauge("process_start_time_seconds", "Start of the process.", process.start_time_seconds);
}

}  // namespace

std::string metrics_text(const ServiceView& view) {
  Exposition out;
  for (std::size_t i = 0; i < view.sources.size(); ++i) add_source(out, view, i);
  add_pipeline(out, view);
  add_queries(out, view);
  add_run(out, view);
  add_memory(out, view);
  return out.text();
}

}  // namespace pixhist
