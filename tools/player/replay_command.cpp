#include <cstdio>
#include <exception>
#include <memory>
#include <thread>

#include "proto/json.hpp"
#include "tools/player/commands.hpp"
#include "tools/player/module_plan.hpp"
#include "tools/player/replay.hpp"
#include "tools/player/sender_options.hpp"

namespace pixhist {

namespace {

using Json = nlohmann::ordered_json;

struct ReplayArguments {
  std::vector<std::string> files;
  SenderOptions sender;
  ReplaySettings replay;
};

Json json_of(const ReplayReport& report) {
  const double per_second = report.seconds > 0 ? 1 / report.seconds : 0;
  return {{"messages", report.messages},
          {"bytes", report.bytes},
          {"refused", report.refused},
          {"loops", report.loops},
          {"seconds", report.seconds},
          {"messages_per_s", static_cast<double>(report.messages) * per_second},
          {"gigabytes_per_s", static_cast<double>(report.bytes) * 1e-9 * per_second},
          {"flushed", report.flushed},
          {"stopped_by", report.stopped ? "signal" : "loops"},
          {"file", report.file},
          {"endpoint", report.endpoint}};
}

ReplayReport sum_of(const std::vector<ReplayReport>& reports) {
  auto sum = reports.front();
  for (auto at = reports.begin() + 1; at != reports.end(); ++at) {
    sum.messages += at->messages;
    sum.bytes += at->bytes;
    sum.refused += at->refused;
    sum.loops = std::min(sum.loops, at->loops);
    sum.seconds = std::max(sum.seconds, at->seconds);
    sum.flushed = sum.flushed && at->flushed;
    sum.stopped = sum.stopped || at->stopped;
  }
  return sum;
}

std::vector<std::unique_ptr<Replay>> open(const ReplayArguments& a) {
  const auto endpoints = endpoints_for(a.sender.endpoints(), a.files.size());
  std::vector<std::unique_ptr<Replay>> replays;
  for (std::size_t i = 0; i < a.files.size(); ++i) {
    auto settings = a.replay;
    settings.file = a.files[i];
    settings.socket = a.sender.settings(false);
    settings.socket.endpoint = endpoints[i];
    replays.push_back(std::make_unique<Replay>(settings));
    std::fprintf(stderr, "pixhist-player: %s, %s %s\n", a.files[i].c_str(),
                 settings.socket.bind ? "bound to" : "connecting to",
                 replays.back()->socket().endpoint().c_str());
  }
  return replays;
}

/// All of them, so that all files begin at once.
void wait_for_subscribers(const ReplayArguments& a, std::vector<std::unique_ptr<Replay>>& replays,
                          const std::atomic<bool>& stop) {
  const auto time = a.sender.wait_subscriber();
  if (!time) return;
  const auto until = std::chrono::steady_clock::now() + *time;
  for (auto& replay : replays) {
    const bool came = replay->socket().wait_for_subscriber(
        [&] { return stop.load() || std::chrono::steady_clock::now() >= until; });
    if (!came && !stop.load()) {
      throw PlayerSocketError("no subscriber at " + replay->socket().endpoint() + " within the time allowed");
    }
  }
}

void play_all(std::vector<std::unique_ptr<Replay>>& replays, std::atomic<bool>& stop) {
  std::vector<std::exception_ptr> errors(replays.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < replays.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        replays[i]->play(stop);
      } catch (...) {
        errors[i] = std::current_exception();
        stop.store(true);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

int run(const ReplayArguments& a, std::atomic<bool>& stop) {
  auto replays = open(a);
  wait_for_subscribers(a, replays, stop);
  play_all(replays, stop);
  const auto until = std::chrono::steady_clock::now() + a.sender.linger();
  std::vector<ReplayReport> reports;
  for (auto& replay : replays) reports.push_back(replay->close(until));
  const auto sum = sum_of(reports);
  auto json = json_of(sum);
  if (reports.size() > 1) {
    json.erase("file");
    json.erase("endpoint");
    json["files"] = Json::array();
    for (const auto& report : reports) json["files"].push_back(json_of(report));
  }
  return print_report(dump_json(json), sum.flushed);
}

}  // namespace

PlayerCommand add_replay_command(CLI::App& app) {
  const auto arguments = std::make_shared<ReplayArguments>();
  app.add_option("FILE", arguments->files, "recordings, each to an endpoint of its own, all at once")
      ->required();
  app.add_option("--rate", arguments->replay.rate_hz,
                 "messages per second and file; 0: as fast as the peer takes them")
      ->check(amount())
      ->capture_default_str();
  app.add_option("--loop", arguments->replay.loops, "how often; 0: until a signal")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option("--memory-bytes", arguments->replay.memory,
                 "a file that needs no more is kept in memory, a larger one read anew for each loop")
      ->check(whole_number())
      ->capture_default_str();
  add_sender_options(app, arguments->sender);
  return [arguments](std::atomic<bool>& stop) { return run(*arguments, stop); };
}

}  // namespace pixhist
