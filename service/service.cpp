#include "service/service.hpp"

#include <algorithm>
#include <thread>

#include "proto/ingest/decoder_registry.hpp"
#include "service/config/memory_plan.hpp"
#include "service/ingest_parts.hpp"
#include "service/service_parts.hpp"
#include "service/stalled_pipeline.hpp"
#include "service/transport/socket_error.hpp"

namespace pixhist {
namespace {

std::size_t source_count(const Config& config) { return config.sources.size(); }

std::vector<SourceSite> sites(const Config& config) {
  std::vector<SourceSite> sites;
  for (const auto& source : config.sources) sites.push_back({source.name, source.shape, source.place});
  return sites;
}

std::optional<SnapshotWindow> closed_run_window(const Config& config) {
  if (config.runs_policy != RunsPolicy::per_run) return std::nullopt;
  return SnapshotWindow{Rect::whole(config.detector), {0, config.axis.bins}, StorageType::u32};
}

}  // namespace

Service::Parts::Parts(Config configuration, std::shared_ptr<spdlog::logger> logger)
    : config(std::move(configuration)),
      log(std::move(logger)),
      device(choose_device(config, config.device == DeviceKind::cpu ? CudaQuery{} : query_cuda_devices())),
      backend(device.kind == "cuda" ? make_cuda_backend(config.device_index, config.policy, account)
                                    : make_cpu_backend(config.cpu_threads, account)),
      places(config.detector, sites(config)),
      run_board(source_count(config)),
      rates(source_count(config)),
      snapshot_memory(backend->host_memory(), config.snapshot_max_bytes, clock),
      held(clock, config.snapshot_max_held),
      closed_runs(closed_run_window(config), snapshot_memory),
      commands(config.max_pending),
      health(clock, run_board),
      data_context(io_threads(config), most_sockets(config)) {
  log_memory_to_take();
  std::vector<std::vector<Accumulator*>> accumulators;
  std::vector<SubmitSource> sources;
  for (std::size_t i = 0; i < source_count(config); ++i) {
    const auto& source = config.sources[i];
    progress.push_back(std::make_unique<SourceProgress>(source.name));
    counts.push_back(backend->make_counts(config.histogram_spec(i)));
    if (config.runs_policy == RunsPolicy::per_run) counts.back()->reserve_read();
    accumulators.push_back({counts.back().get()});
    sources.push_back({*progress.back(), *counts.back(), sequence_rules(config, i)});
  }
  lanes = make_lanes(config, backend->host_memory(), account);
  pipeline = stall_if_told(
      backend->make_pipeline(std::move(accumulators), largest_batch(config), config.batch_frames),
      [this](const std::string& what) { log->warn("{}", what); });
  health.watch_device([this] { return pipeline->healthy(); });

  std::vector<IngestLane*> lane_list;
  for (const auto& lane : lanes) lane_list.push_back(lane.get());
  const BatchLimits limits{config.batch_frames, config.batch_bytes, config.batch_max_age};
  submit = std::make_unique<SubmitAgent>(
      SubmitParts{clock,
                  *pipeline,
                  std::move(sources),
                  std::move(lane_list),
                  limits,
                  places,
                  commands,
                  doorbell,
                  run_board,
                  pipeline_board,
                  closed_runs,
                  {config.runs_policy == RunsPolicy::per_run, config.close_after},
                  submit_notes()},
      config.autostart);
  service_view = std::make_unique<ServiceView>(view());
}

/// Said before it is taken: page-locking goes at 1 to 2 GB/s, and whoever waits should see why.
void Service::Parts::log_memory_to_take() const {
  const auto plan = plan_memory(config, device.kind == "cuda");
  log->info("taking {} of host memory, {} page-locked, {} on the device",
            human_bytes(plan.total(MemoryKind::host)), human_bytes(plan.total(MemoryKind::pinned)),
            human_bytes(plan.total(MemoryKind::device)));
}

ServiceView Service::Parts::view() {
  std::vector<IngestLane*> lane_list;
  for (const auto& lane : lanes) lane_list.push_back(lane.get());
  std::vector<SourceProgress*> progress_list;
  for (const auto& p : progress) progress_list.push_back(p.get());
  return {config,
          clock,
          device,
          backend->threads(),
          std::move(lane_list),
          std::move(progress_list),
          places,
          counts.front()->kernels(),
          run_board,
          pipeline_board,
          account,
          snapshot_memory,
          held,
          closed_runs,
          commands,
          errors,
          rates,
          query_stats,
          clock.now()};
}

void Service::Parts::make_receivers() {
  for (auto& lane : lanes) {
    const std::size_t i = lane->source;
    const auto& source = config.sources[i];
    const ExpectedFrame expected{source.shape, config.pixel_type};
    Receiver receiver;
    receiver.decoder = make_decoder(source.format, expected);
    auto options = ingest_options(config, *lane, receivers.size(), receiver.decoder->max_parts());
    options.on_cut = [this, i](const std::string& what) {
      const auto& name = config.sources[i].name;
      errors.note(clock.wall(), name, "connection_cut", what);
      repeated.log(LogLevel::error, name, "connection_cut", what, clock.now());
    };
    receiver.socket = std::make_unique<IngestSocket>(data_context, options, lane->socket_events);
    lane->endpoint = receiver.socket->endpoint();
    receiver.agent = std::make_unique<ReceiveAgent>(ReceiveAgent::Parts{
        *lane, *receiver.socket, *receiver.decoder, clock, doorbell, places, source.on_full,
        source.on_incomplete, [this, i](const Rejection& rejection) { on_reject(i, rejection); },
        [this, i](const PlaceVerdict& verdict) { on_place(i, verdict); },
        ingest_pace(config, *lane, options)});
    receiver.runner = make_runner("recv-" + std::to_string(receivers.size()), *receiver.agent);
    log->info("source {}: {} {} {} as {}{}", source.name, source.socket == SocketKind::pull ? "PULL" : "SUB",
              source.bind ? "bound to" : "connecting to", lane->endpoint, source.format,
              source.socket == SocketKind::pull && !source.bind
                  ? " (a PULL client competes with other PULL clients for frames)"
                  : "");
    receivers.push_back(std::move(receiver));
  }
}

std::unique_ptr<AgentRunner> Service::Parts::make_runner(std::string name, Agent& agent) {
  auto runner = std::make_unique<AgentRunner>(
      name, agent, clock, [this, name](std::exception_ptr error) { on_thread_error(name, error); });
  health.watch(*runner);
  return runner;
}

void Service::Parts::on_thread_error(const std::string& thread, std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const DeviceLost& e) {
    log->critical("device lost: {}", e.what());
    failure.store(static_cast<int>(ExitCode::device));
  } catch (const std::exception& e) {
    log->critical("thread {} failed: {}", thread, e.what());
    failure.store(static_cast<int>(ExitCode::cut_short));
  }
}

void Service::Parts::on_reject(std::size_t source, const Rejection& rejection) {
  const auto& name = config.sources[source].name;
  const auto reason = name_of(rejection.reason);
  errors.note(clock.wall(), name, reason, rejection.message);
  const bool mismatch = rejection.reason == RejectReason::geometry || rejection.reason == RejectReason::dtype;
  if (mismatch && errors.mismatch(name, rejection.message)) {
    log->error("{}: the stream does not fit the configuration: {}", name, rejection.message);
    return;
  }
  repeated.log(LogLevel::warn, name, reason, rejection.message, clock.now());
}

void Service::Parts::on_place(std::size_t source, const PlaceVerdict& verdict) {
  if (verdict.news == PlaceVerdict::News::taken) return log->info("{}", verdict.message);
  log->warn("{}", verdict.message);
  errors.note(clock.wall(), config.sources[source].name, "place", verdict.message);
}

SubmitNotes Service::Parts::submit_notes() {
  SubmitNotes notes;
  notes.run_closed = [this](const ClosedRun& run) {
    const Cut& cut = run.snapshot->cut;
    log->info("run {} closed by {}: {} frames of {} sources", cut.run, name_of(run.end), cut.frames(),
              cut.sources.size());
    for (const auto& source : cut.sources)
      log->info("run {}, {}: {} frames, missing {}, last frame {}", cut.run, source.source, source.frames,
                source.account.missing, source.last_frame ? std::to_string(*source.last_frame) : "none");
  };
  notes.many_missing = [this](std::size_t source, std::uint64_t numbers, std::uint64_t in_all) {
    const auto& name = config.sources[source].name;
    const std::string text = std::to_string(numbers) + " frame numbers are missing at once, " +
                             std::to_string(in_all) +
                             " in all: a long interruption, or a sender that gave a wrong frame number or a "
                             "wrong number of frames in an end message";
    errors.note(clock.wall(), name, "missing", text);
    repeated.log(LogLevel::warn, name, "missing", text, clock.now());
  };
  return notes;
}

Service::Service(Config config, std::shared_ptr<spdlog::logger> logger)
    : parts_(std::make_unique<Parts>(std::move(config), std::move(logger))) {}

Service::~Service() = default;

void Service::start() {
  auto& p = *parts_;
  if (p.config.device == DeviceKind::automatic && p.device.kind == "cpu") p.log->warn("{}", p.device.reason);
  p.log->info("accumulating on {} ({})", p.device.name,
              p.device.kind == "cpu" ? std::to_string(p.backend->threads()) + " threads" : p.device.kind);
  p.query_socket = std::make_unique<QuerySocket>(p.query_context, p.config.query_endpoint,
                                                 p.config.max_pending_per_client);
  p.query = std::make_unique<QueryAgent>(QueryAgent::Parts{
      *p.service_view, *p.query_socket, p.commands, p.doorbell, p.held, p.snapshot_memory, p.query_stats});
  p.submit_runner = p.make_runner("submit", *p.submit);
  p.query_runner = p.make_runner("query", *p.query);
  p.make_receivers();
  p.http = std::make_unique<HttpServer>(p.config.http_listen, *p.service_view, p.health);
  p.submit_runner->start();
  p.query_runner->start();
  for (auto& receiver : p.receivers) receiver.runner->start();
  p.log->info("queries at {}, http://{}/status, run {}", p.query_socket->endpoint(), p.http->address(),
              p.run_board.info().run);
  p.log->info("ready: {}", name_of(p.run_board.state()));
}

void Service::tick() {
  auto& p = *parts_;
  p.rates.sample(p.clock.now(), p.service_view->lanes, p.service_view->sources, p.pipeline_board);
  p.repeated.flush(p.clock.now());
  p.snapshot_memory.expire();  // here, since to give back much memory takes long and nobody waits
}

std::optional<ExitCode> Service::failure() const {
  const int code = parts_->failure.load();
  if (code < 0) return std::nullopt;
  return static_cast<ExitCode>(code);
}

}  // namespace pixhist
