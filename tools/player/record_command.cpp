#include <cstdio>
#include <memory>

#include "proto/json.hpp"
#include "tools/player/commands.hpp"
#include "tools/player/recorder.hpp"

namespace pixhist {

namespace {

struct RecordArguments {
  std::vector<std::string> places;  // endpoints, and the file at last
  std::string socket = "sub";
  double seconds = 0;
  RecorderSettings recorder;
};

const char* name_of(RecorderReport::StoppedBy by) {
  switch (by) {
    case RecorderReport::StoppedBy::messages: return "messages";
    case RecorderReport::StoppedBy::duration: return "seconds";
    case RecorderReport::StoppedBy::signal: break;
  }
  return "signal";
}

int run(RecordArguments& a, const std::atomic<bool>& stop) {
  auto& settings = a.recorder;
  if (a.places.size() < 2) throw std::invalid_argument("record needs one or more endpoints, and then a file");
  settings.file = a.places.back();
  settings.endpoints.assign(a.places.begin(), a.places.end() - 1);
  if (settings.file.find("://") != std::string::npos) {
    throw std::invalid_argument("the last of the arguments of record is '" + settings.file +
                                "', which is an endpoint; a file goes there");
  }
  settings.subscribe = a.socket == "sub";
  if (a.seconds > 0) settings.duration = std::chrono::duration<double>(a.seconds);
  Recorder recorder(settings);
  for (const auto& endpoint : recorder.endpoints()) {
    std::fprintf(stderr, "pixhist-player: recording into %s, %s %s\n", settings.file.c_str(),
                 settings.bind ? "bound to" : "connecting to", endpoint.c_str());
  }
  const auto report = recorder.record(stop);
  const nlohmann::ordered_json json{{"messages", report.messages}, {"bytes", report.bytes},
                                    {"seconds", report.seconds},   {"stopped_by", name_of(report.stopped_by)},
                                    {"file", settings.file},       {"endpoints", recorder.endpoints()}};
  return print_report(dump_json(json), true);
}

}  // namespace

PlayerCommand add_record_command(CLI::App& app) {
  const auto a = std::make_shared<RecordArguments>();
  auto& settings = a->recorder;
  app.add_option("PLACE", a->places, "ENDPOINT... FILE: where from, and where to; .gz: compressed")
      ->required();
  app.add_option("--socket", a->socket, "sub or pull")
      ->check(CLI::IsMember({"sub", "pull"}))
      ->capture_default_str();
  app.add_flag("--bind", settings.bind, "bind the endpoints instead of connecting to them");
  app.add_option("--topic", settings.topic, "sub: only messages that begin with this text");
  app.add_option("--messages", settings.messages, "stop behind so many messages")->check(whole_number());
  app.add_option("--seconds", a->seconds, "stop after this time; without either: at a signal")
      ->check(amount())
      ->check(CLI::PositiveNumber);
  app.add_option("--queue-messages", settings.queue_messages,
                 "messages of each peer that may wait in memory; beyond, PUSH waits and PUB drops")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--overwrite", settings.overwrite, "replace the file if it is there");
  return [a](std::atomic<bool>& stop) { return run(*a, stop); };
}

}  // namespace pixhist
