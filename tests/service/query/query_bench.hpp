#pragma once
// A query agent with its socket, driven by hand like the submit agent beside it, and clients.

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "proto/json.hpp"
#include "service/query/query_agent.hpp"
#include "tests/service/agents/submit_bench.hpp"
#include "tests/service/query/counting_memory.hpp"

namespace pixhist::test {

/// One connection. Sends and receives as a DEALER without envelope.
class QueryClientSocket {
 public:
  struct Reply {
    nlohmann::json head;
    std::vector<std::vector<std::byte>> parts;
    const nlohmann::json& result() const { return head.at("result"); }
    std::string error() const { return head.at("error").at("code"); }
    template <class T>
    std::vector<T> values(std::size_t part = 0) const {
      std::vector<T> all(parts.at(part).size() / sizeof(T));
      std::memcpy(all.data(), parts.at(part).data(), all.size() * sizeof(T));
      return all;
    }
  };

  QueryClientSocket(zmq::context_t& context, const std::string& endpoint)
      : socket_(context, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.connect(endpoint);
  }
  void ask(const std::string& op, const nlohmann::json& args = nlohmann::json::object()) {
    const std::string text = dump_json(nlohmann::json{{"v", 1}, {"op", op}, {"args", args}});
    socket_.send(zmq::buffer(text), zmq::send_flags::none);
  }
  std::optional<Reply> receive() {
    Reply reply;
    zmq::message_t part;
    if (!socket_.recv(part, zmq::recv_flags::dontwait)) return std::nullopt;
    reply.head = parse_json(part.to_string());
    while (part.more()) {
      if (!socket_.recv(part, zmq::recv_flags::none)) throw std::runtime_error("half a reply");
      const auto* bytes = static_cast<const std::byte*>(part.data());
      reply.parts.emplace_back(bytes, bytes + part.size());
    }
    return reply;
  }
  void close() { socket_.close(); }

 private:
  zmq::socket_t socket_;
};

struct QueryBench {
  /// sources: side by side, or all of unknown place.
  explicit QueryBench(std::size_t sources = 1, bool placed = true,
                      std::size_t max_bytes = std::size_t{16} << 20)
      : submit(std::vector<std::size_t>(sources, 1), {4, 1 << 20, std::chrono::milliseconds(200)}, true, 4096,
               64, placed),
        config(make_config(sources)),
        memory(system, max_bytes, submit.clock),
        rates(sources),
        view{config,
             submit.clock,
             {"cpu", "test", "test"},
             1,
             lanes(),
             progress(),
             submit.places,
             submit.counts.front()->kernels(),
             submit.board,
             submit.pipeline_board,
             submit.memory_account,
             memory,
             held,
             submit.closed,
             submit.commands,
             errors,
             rates,
             stats,
             submit.clock.now()} {}

  static Config make_config(std::size_t sources) {
    Config config;
    config.detector = {SubmitBench::shape.rows,
                       static_cast<std::uint32_t>(sources) * SubmitBench::shape.cols};
    config.axis = {16, 0, 16, AxisType::f32};
    config.sources.resize(sources);
    config.max_reply_bytes = std::size_t{1} << 30;
    return config;
  }
  std::vector<IngestLane*> lanes() const {
    std::vector<IngestLane*> all;
    for (const auto& lane : submit.lanes) all.push_back(lane.get());
    return all;
  }
  std::vector<SourceProgress*> progress() const {
    std::vector<SourceProgress*> all;
    for (const auto& p : submit.progress) all.push_back(p.get());
    return all;
  }

  std::unique_ptr<QueryClientSocket> client() {
    return std::make_unique<QueryClientSocket>(context, socket.endpoint());
  }
  /// Steps the query agent until `done`. False if that takes suspiciously long.
  template <class Done>
  bool step_until(Done&& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      if (!agent.step()) agent.wait();
    }
    return true;
  }
  /// Until so many requests wait for the submit agent.
  bool waiting(std::size_t requests) {
    return step_until([&] { return agent.pending() == requests; });
  }
  QueryClientSocket::Reply reply_to(QueryClientSocket& asker) {
    std::optional<QueryClientSocket::Reply> reply;
    REQUIRE(step_until([&] {
      submit.run_until_idle();
      reply = asker.receive();
      return reply.has_value();
    }));
    return *reply;
  }

  SubmitBench submit;
  Config config;
  CountingMemory system;
  SnapshotMemory memory;
  HeldSnapshots held{submit.clock, 4};
  ErrorBoard errors;
  RateMeter rates;
  QueryStats stats;
  ServiceView view;
  zmq::context_t context;
  QuerySocket socket{context, "tcp://127.0.0.1:*", 8};
  QueryAgent agent{{view, socket, submit.commands, submit.doorbell, held, memory, stats}};
};

}  // namespace pixhist::test
