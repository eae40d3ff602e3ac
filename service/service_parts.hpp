#pragma once
// What the service is made of, in the order of construction; destruction is the reverse. Private to
// service.cpp and its shutdown.

#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <vector>
#include <zmq.hpp>

#include "service/agents/receive_agent.hpp"
#include "service/agents/submit_agent.hpp"
#include "service/backend.hpp"
#include "service/device_choice.hpp"
#include "service/http/http_server.hpp"
#include "service/logging/rate_limited_log.hpp"
#include "service/query/query_agent.hpp"
#include "service/service.hpp"
#include "service/transport/ingest_socket.hpp"

namespace pixhist {

/// One data socket with its thread.
struct Receiver {
  std::unique_ptr<IngestSocket> socket;
  std::unique_ptr<FrameDecoder> decoder;
  std::unique_ptr<ReceiveAgent> agent;
  std::unique_ptr<AgentRunner> runner;
};

struct Service::Parts {
  Parts(Config config, std::shared_ptr<spdlog::logger> logger);

  void log_memory_to_take() const;
  void make_receivers();
  std::unique_ptr<AgentRunner> make_runner(std::string name, Agent& agent);
  void on_thread_error(const std::string& thread, std::exception_ptr error);
  void on_reject(std::size_t source, const Rejection& rejection);
  void on_place(std::size_t source, const PlaceVerdict& verdict);
  SubmitNotes submit_notes();
  ServiceView view();

  // Shutdown, in order.
  bool finish_receiving(const std::function<bool()>& give_up);
  void finish_queries(const std::function<bool()>& give_up);
  void log_final_account(bool complete);

  const Config config;
  std::shared_ptr<spdlog::logger> log;
  RateLimitedLog repeated{*log};
  SystemClock clock;
  const DeviceChoice device;
  MemoryAccount account;
  const std::unique_ptr<Backend> backend;

  std::vector<std::unique_ptr<IngestLane>> lanes;
  std::vector<std::unique_ptr<SourceProgress>> progress;
  std::vector<std::unique_ptr<PixelCounts>> counts;
  std::unique_ptr<Pipeline> pipeline;

  PlaceBoard places;
  RunBoard run_board;
  PipelineProgressBoard pipeline_board;
  Doorbell doorbell;
  ErrorBoard errors;
  RateMeter rates;
  QueryStats query_stats;
  SnapshotMemory snapshot_memory;
  HeldSnapshots held;
  ClosedRuns closed_runs;
  CommandQueue commands;  // behind snapshot_memory: a command left over at a forced end owns blocks of it
  std::unique_ptr<SubmitAgent> submit;
  std::unique_ptr<ServiceView> service_view;
  Health health;

  zmq::context_t data_context;
  // With an I/O thread of its own: a large answer keeps one busy for as long as its client reads.
  zmq::context_t query_context{1};
  std::vector<Receiver> receivers;
  std::unique_ptr<QuerySocket> query_socket;
  std::unique_ptr<QueryAgent> query;
  std::unique_ptr<AgentRunner> submit_runner;
  std::unique_ptr<AgentRunner> query_runner;
  std::unique_ptr<HttpServer> http;
  std::atomic<int> failure{-1};  // an ExitCode once a thread has failed
};

}  // namespace pixhist
