#include "service/agents/command_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace pixhist;

namespace {

constexpr SnapshotWindow a_window{{0, 2, 0, 3}, {0, 16}, StorageType::u32};

struct QueueBench {
  MemoryAccount account;
  PageableMemory memory{account};
  CommandQueue queue{8};
  std::vector<std::string> answered;

  Asker asker(const std::string& client) {
    return {client, [this, client](CommandResult) { answered.push_back(client); }};
  }
  Command command(CommandKind kind, const std::string& client) {
    Command c;
    c.kind = kind;
    c.askers.push_back(asker(client));
    return c;
  }
  Command read(const std::string& client, std::size_t bytes = 1) {
    Command c = command(CommandKind::read, client);
    c.snapshot = std::make_shared<Snapshot>();
    c.snapshot->window = a_window;
    c.snapshot->counts = memory.allocate(bytes, Paging::on_demand);
    return c;
  }
  Command large_read(const std::string& client) { return read(client, Command::largest_small_read + 1); }
  void push(Command c) { REQUIRE(queue.try_push(c)); }
  bool join(const std::string& client, const ReadWish& wish = {a_window, {}}) {
    Asker a = asker(client);
    return queue.try_join(wish, a);
  }
  /// Who asked for what comes next; empty: nothing does.
  std::vector<std::string> pop(bool large_reads_wait = false) {
    std::vector<std::string> clients;
    const bool ready = queue.ready(large_reads_wait);
    auto c = queue.try_pop(large_reads_wait);
    CHECK(c.has_value() == ready);
    if (!c) return {};
    for (const auto& a : c->askers) clients.push_back(a.client);
    c->answer({});
    CHECK(c->askers.empty());
    return clients;
  }
};

using Clients = std::vector<std::string>;

}  // namespace

TEST_CASE("first in, first out, bounded; what does not fit is untouched") {
  QueueBench b;
  for (int i = 0; i < 8; ++i) b.push(b.read(std::to_string(i)));
  Command ninth = b.read("ninth");
  CHECK_FALSE(b.queue.try_push(ninth));
  CHECK(ninth.askers.size() == 1);
  for (int i = 0; i < 8; ++i) CHECK(b.pop() == Clients{std::to_string(i)});
  CHECK(b.pop().empty());
}

TEST_CASE("whoever wants the same joins the read that waits, and all are answered") {
  QueueBench b;
  b.push(b.read("a"));
  CHECK(b.join("b"));
  CHECK(b.join("c"));
  CHECK(b.queue.size() == 1);
  CHECK(b.pop() == Clients{"a", "b", "c"});
  CHECK(b.answered == Clients{"a", "b", "c"});
  CHECK_FALSE(b.join("d"));  // it has been taken
}

TEST_CASE("only the same read is joined") {
  QueueBench b;
  b.push(b.read("a"));
  const ReadWish same{a_window, std::nullopt};
  ReadWish other = same;
  SUBCASE("pixels") { other.window.pixels.row_end = 1; }
  SUBCASE("bins") { other.window.bins.begin = 1; }
  SUBCASE("type") { other.window.dtype = StorageType::u16; }
  SUBCASE("rebin") { other.window.rebin = 2; }
  SUBCASE("reduction") { other.reduction = ReductionKind::sum; }
  SUBCASE("flow") { other.flow = true; }
  SUBCASE("fresh") { other.fresh = true; }
  SUBCASE("pause") { other.pause = true; }
  CHECK_FALSE(b.join("b", other));
  CHECK(b.join("b", same));
}

TEST_CASE("a read with flow serves who wants none") {
  QueueBench b;
  Command with_flow = b.read("a");
  with_flow.snapshot->flow = b.memory.allocate(16, Paging::on_demand);
  b.push(std::move(with_flow));
  CHECK(b.join("b"));
  CHECK(b.join("c", {a_window, {}, true}));
}

TEST_CASE("nobody joins a read before a command that changes the run, nor one that changes it itself") {
  QueueBench b;
  b.push(b.read("a"));
  Command then_reset = b.read("b");
  then_reset.then_reset = true;
  SUBCASE("reset") { b.push(b.command(CommandKind::reset, "b")); }
  SUBCASE("start") { b.push(b.command(CommandKind::start, "b")); }
  SUBCASE("stop") { b.push(b.command(CommandKind::stop, "b")); }
  SUBCASE("then_reset") { b.push(std::move(then_reset)); }
  CHECK_FALSE(b.join("c"));
  b.push(b.read("c"));
  CHECK(b.join("d"));  // the one behind it
  CHECK(b.pop() == Clients{"a"});
  CHECK(b.pop() == Clients{"b"});
  CHECK(b.pop() == Clients{"c", "d"});
}

TEST_CASE("a client joins nothing that lies before what it asked last") {
  QueueBench b;
  b.push(b.read("a"));
  Command other = b.read("b");
  other.fresh = true;
  b.push(std::move(other));
  CHECK_FALSE(b.join("b"));
  CHECK(b.join("c"));
  CHECK(b.join("a"));  // its own, twice
}

TEST_CASE("while large reads wait smaller ones of other clients pass them, in order") {
  QueueBench b;
  b.push(b.large_read("a"));
  b.push(b.read("a"));  // stays behind what its client asked before
  b.push(b.read("b"));
  b.push(b.large_read("c"));
  b.push(b.read("d"));
  CHECK(b.pop(true) == Clients{"b"});
  CHECK(b.pop(true) == Clients{"d"});
  CHECK(b.pop(true).empty());
  CHECK(b.pop() == Clients{"a"});
  CHECK(b.pop(true) == Clients{"a"});
  CHECK(b.pop(true).empty());
  CHECK(b.pop() == Clients{"c"});
}

TEST_CASE("nothing passes a command that changes the run, which passes nothing") {
  QueueBench b;
  b.push(b.large_read("a"));
  Command then_reset = b.large_read("b");
  then_reset.then_reset = true;
  SUBCASE("reset") { b.push(b.command(CommandKind::reset, "b")); }
  SUBCASE("then_reset") { b.push(std::move(then_reset)); }
  b.push(b.read("c"));
  CHECK(b.pop(true).empty());
  CHECK(b.pop() == Clients{"a"});
  CHECK(b.pop() == Clients{"b"});
  CHECK(b.pop(true) == Clients{"c"});
}

TEST_CASE("a first command that changes the run waits for no large read") {
  QueueBench b;
  b.push(b.command(CommandKind::stop, "a"));
  CHECK(b.pop(true) == Clients{"a"});
}

TEST_CASE("joining while the consumer takes: everybody is answered once") {
  CommandQueue queue(64);
  constexpr int rounds = 2000;
  std::atomic<int> answers{0};
  std::atomic<bool> done{false};
  std::thread consumer([&] {
    while (true) {
      const bool last = done.load();
      while (auto command = queue.try_pop(false)) command->answer({});
      if (last) return;
    }
  });
  std::vector<std::thread> producers;
  for (int t = 0; t < 3; ++t)
    producers.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        Asker asker{std::to_string(t), [&](CommandResult) { answers.fetch_add(1); }};
        if (queue.try_join({a_window, {}}, asker)) continue;
        Command command;
        command.snapshot = std::make_shared<Snapshot>();
        command.snapshot->window = a_window;
        command.askers.push_back(asker);
        while (!queue.try_push(command)) std::this_thread::yield();
      }
    });
  for (auto& producer : producers) producer.join();
  done = true;
  consumer.join();
  CHECK(answers == 3 * rounds);
}
