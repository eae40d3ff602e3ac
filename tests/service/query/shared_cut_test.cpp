// Requests that wait while the submit thread is busy elsewhere.

#include <doctest/doctest.h>

#include "tests/service/query/query_bench.hpp"

using namespace pixhist;
using test::QueryBench;
using test::QueryClientSocket;

namespace {

using Clients = std::vector<std::unique_ptr<QueryClientSocket>>;

Clients clients(QueryBench& bench, std::size_t n) {
  Clients all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(bench.client());
  return all;
}

std::uint64_t frames(const QueryClientSocket::Reply& reply) {
  return reply.result()["cut"]["totals"]["frames"];
}

}  // namespace

TEST_CASE("requests for the same that wait share one cut and one result") {
  QueryBench bench;
  const Clients asking = clients(bench, 5);
  for (const auto& client : asking) client->ask("values", {{"fresh", true}});
  REQUIRE(bench.waiting(5));
  CHECK(bench.submit.commands.size() == 1);
  CHECK(bench.system.allocations == 1);
  CHECK(bench.stats.shared == 4);
  for (std::uint64_t n = 0; n < 3; ++n) bench.submit.send(n, 7);  // they come before the cut is taken
  const auto first = bench.reply_to(*asking[0]);
  CHECK(frames(first) == 3);
  CHECK(first.values<std::uint32_t>()[7] == 3);
  for (std::size_t i = 1; i < asking.size(); ++i) {
    const auto reply = bench.reply_to(*asking[i]);
    CHECK(reply.head == first.head);
    CHECK(reply.parts == first.parts);
  }
  CHECK(bench.system.allocations == 1);
  CHECK(bench.step_until([&] { return bench.memory.used() == 0; }));

  asking[0]->ask("values");  // later: a cut of its own
  bench.submit.send(3, 7);
  bench.submit.clock.advance(std::chrono::seconds(1));
  bench.submit.run_until_idle();
  CHECK(frames(bench.reply_to(*asking[0])) == 4);
  CHECK(bench.stats.shared == 4);
}

TEST_CASE("different answers made of the same read share it too") {
  QueryBench bench;
  const Clients asking = clients(bench, 4);
  bench.submit.send(0, 7);
  bench.submit.send(1, 9);
  asking[0]->ask("image", {{"stat", "mean"}, {"fresh", true}});
  asking[1]->ask("image", {{"stat", "std"}, {"fresh", true}});
  asking[2]->ask("moments", {{"fresh", true}});
  asking[3]->ask("image", {{"stat", "sum"}, {"fresh", true}});
  REQUIRE(bench.waiting(4));
  CHECK(bench.submit.commands.size() == 2);
  CHECK(bench.reply_to(*asking[0]).values<double>()[0] == 8.5);
  CHECK(bench.reply_to(*asking[1]).values<double>()[0] == 1.0);
  CHECK(bench.reply_to(*asking[2]).values<double>(1)[0] == 8.5);
  CHECK(bench.reply_to(*asking[3]).values<std::uint64_t>()[0] == 2);
}

TEST_CASE("a held cut and an answer may be of one read") {
  QueryBench bench;
  const Clients asking = clients(bench, 2);
  bench.submit.send(0, 7);
  asking[0]->ask("snapshot");
  REQUIRE(bench.waiting(1));
  asking[1]->ask("values", {{"fresh", true}});
  REQUIRE(bench.waiting(2));
  CHECK(bench.submit.commands.size() == 1);
  const auto held = bench.reply_to(*asking[0]);
  CHECK(frames(bench.reply_to(*asking[1])) == 1);
  bench.submit.send(1, 7);
  asking[1]->ask("values", {{"snapshot", held.result()["snapshot"]}});
  const auto later = bench.reply_to(*asking[1]);
  CHECK(frames(later) == 1);
  CHECK(later.values<std::uint32_t>()[7] == 1);
}

TEST_CASE("a reset between two requests for the same is respected") {
  QueryBench bench;
  const Clients asking = clients(bench, 4);
  const auto ask = [&](std::size_t client, const char* op, nlohmann::json args) {
    asking[client]->ask(op, args);
    REQUIRE(bench.waiting(client + 1));
  };
  for (std::uint64_t n = 0; n < 3; ++n) bench.submit.send(n, 7);
  const nlohmann::json fresh{{"fresh", true}};
  ask(0, "values", fresh);
  SUBCASE("reset") { ask(1, "reset", nlohmann::json::object()); }
  SUBCASE("then_reset") { ask(1, "values", {{"then_reset", true}}); }
  ask(2, "values", fresh);
  ask(3, "values", fresh);
  CHECK(bench.submit.commands.size() == 3);
  CHECK(frames(bench.reply_to(*asking[0])) == 3);
  CHECK(frames(bench.reply_to(*asking[1])) == 3);
  for (const std::size_t client : {std::size_t{2}, std::size_t{3}}) {
    const auto reply = bench.reply_to(*asking[client]);
    CHECK(frames(reply) == 0);
    CHECK(reply.values<std::uint32_t>()[7] == 0);
  }
}

TEST_CASE("a client that has gone takes nothing from those who joined it") {
  QueryBench bench;
  const Clients asking = clients(bench, 3);
  bench.submit.send(0, 7);
  for (std::size_t i = 0; i < asking.size(); ++i) {
    asking[i]->ask("values", {{"fresh", true}});
    REQUIRE(bench.waiting(i + 1));
  }
  asking[0]->close();
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    CHECK(bench.reply_to(*asking[i]).values<std::uint32_t>()[7] == 1);
  CHECK(bench.agent.pending() == 0);
  CHECK(bench.step_until([&] { return bench.memory.used() == 0; }));
}

TEST_CASE("a lost device is told to all who share a read") {
  QueryBench bench;
  const Clients asking = clients(bench, 3);
  bench.submit.pipeline->lost = true;
  bench.submit.send(0, 7);
  for (const auto& client : asking) client->ask("values", {{"fresh", true}});
  REQUIRE(bench.waiting(3));
  CHECK_THROWS_AS(bench.submit.run_until_idle(), DeviceLost);
  REQUIRE(bench.waiting(0));
  for (const auto& client : asking) {
    std::optional<QueryClientSocket::Reply> reply;
    REQUIRE(bench.step_until([&] { return (reply = client->receive()).has_value(); }));
    CHECK(reply->error() == "device_lost");
  }
}

TEST_CASE("each request that shares a read counts against the limits") {
  QueryBench bench;
  bench.config.max_pending_per_client = 3;
  bench.config.max_pending = 4;
  const Clients asking = clients(bench, 2);
  for (int i = 0; i < 3; ++i) asking[0]->ask("values");
  REQUIRE(bench.waiting(3));
  CHECK(bench.submit.commands.size() == 1);
  const auto refused = [&](std::size_t client) {
    asking[client]->ask("values");
    std::optional<QueryClientSocket::Reply> reply;
    REQUIRE(bench.step_until([&] { return (reply = asking[client]->receive()).has_value(); }));
    return reply->error();
  };
  CHECK(refused(0) == "busy");
  asking[1]->ask("values");
  REQUIRE(bench.waiting(4));
  CHECK(refused(1) == "busy");
  for (int i = 0; i < 3; ++i) CHECK(bench.reply_to(*asking[0]).head["ok"] == true);
  CHECK(bench.reply_to(*asking[1]).head["ok"] == true);
}
