#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "service/ingest_parts.hpp"

namespace pixhist {
namespace {

constexpr int io_thread_count = 4;
constexpr int frames = 100;
constexpr std::size_t frame_bytes = 1 << 20;

/// CPU nanoseconds of ZeroMQ's I/O threads 0 to io_thread_count - 1 in this process.
std::vector<std::uint64_t> io_thread_times() {
  std::vector<std::uint64_t> times(io_thread_count);
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    for (int i = 0; i < io_thread_count; ++i) {
      if (name == "ZMQbg/IO/" + std::to_string(i))
        std::ifstream(task.path() / "schedstat") >> times[static_cast<std::size_t>(i)];
    }
  }
  return times;
}

/// Four sockets of a service, and a sender for each that has an I/O thread beside theirs.
struct Streams {
  Streams(zmq::context_t& context, bool bind) {
    for (std::size_t i = 0; i < io_thread_count; ++i) {
      senders.emplace_back(context, zmq::socket_type::push);
      senders.back().set(zmq::sockopt::affinity, std::uint64_t{1} << io_thread_count);
      senders.back().set(zmq::sockopt::linger, 0);
      IngestSocketOptions options;
      options.kind = SocketKind::pull;
      options.bind = bind;
      options.endpoint = "tcp://127.0.0.1:*";
      options.max_part_bytes = frame_bytes;
      options.io_threads = io_affinity(i, io_thread_count);
      if (!bind) {
        senders.back().bind(options.endpoint);
        options.endpoint = senders.back().get(zmq::sockopt::last_endpoint);
      }
      sockets.push_back(std::make_unique<IngestSocket>(context, options, events[i]));
      if (bind) senders.back().connect(sockets.back()->endpoint());
    }
  }

  void play() {
    std::thread sending([this] {
      const std::vector<std::byte> frame(frame_bytes);
      for (int f = 0; f < frames; ++f)
        for (auto& sender : senders) sender.send(zmq::buffer(frame), zmq::send_flags::none);
    });
    for (int f = 0; f < frames; ++f) {
      for (auto& socket : sockets) {
        while (!socket->receive()) socket->wait(std::chrono::milliseconds(100));
      }
    }
    sending.join();
  }

  SocketEventCounters events[io_thread_count];
  std::vector<zmq::socket_t> senders;
  std::vector<std::unique_ptr<IngestSocket>> sockets;
};

// Left to itself, ZeroMQ put all of them on one: their rate was that of one thread.
TEST_CASE("sockets that are made at the same time are served by different I/O threads") {
  for (const bool bind : {false, true}) {
    CAPTURE(bind);
    zmq::context_t context(io_thread_count + 1);
    Streams streams(context, bind);
    const auto before = io_thread_times();
    streams.play();
    auto used = io_thread_times();
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < used.size(); ++i) all += used[i] -= before[i];
    REQUIRE(all > 0);
    for (const auto time : used) CHECK(time > all / 20);
  }
}

TEST_CASE("there is an I/O thread for four cores, but not more than sockets") {
  Config config;
  config.sources.resize(2);
  for (auto& source : config.sources) source.endpoints.assign(10, "tcp://127.0.0.1:*");
  CHECK(io_threads(config, 0) == 1);
  CHECK(io_threads(config, 2) == 1);
  CHECK(io_threads(config, 16) == 4);
  CHECK(io_threads(config, 256) == 16);
  config.sources.resize(1);
  config.sources.front().endpoints.resize(3);
  CHECK(io_threads(config, 256) == 3);
}

TEST_CASE("the largest configuration has room for all its sockets") {
  Config config;
  config.sources.resize(32);
  for (auto& source : config.sources) source.endpoints.assign(16, "tcp://127.0.0.1:*");
  rlimit files{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
  files.rlim_cur = files.rlim_max;  // as pixhistd does
  REQUIRE(setrlimit(RLIMIT_NOFILE, &files) == 0);
  zmq::context_t context(1, most_sockets(config));
  std::vector<SocketEventCounters> events(512);
  std::vector<std::unique_ptr<IngestSocket>> sockets;
  IngestSocketOptions options;
  options.kind = SocketKind::pull;
  options.bind = true;
  options.endpoint = "tcp://127.0.0.1:*";
  for (auto& counters : events)
    CHECK_NOTHROW(sockets.push_back(std::make_unique<IngestSocket>(context, options, counters)));
  CHECK(sockets.size() == 512);
}

TEST_CASE("I/O threads are taken in turn") {
  CHECK(io_affinity(0, 1) == 1);
  CHECK(io_affinity(7, 1) == 1);
  CHECK(io_affinity(0, 4) == 1);
  CHECK(io_affinity(3, 4) == 8);
  CHECK(io_affinity(5, 4) == 2);
}

}  // namespace
}  // namespace pixhist
