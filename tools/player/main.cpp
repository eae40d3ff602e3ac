// pixhist-player: a simulated detector that sends frames over ZeroMQ and says what it sent.

#include <signal.h>

#include <atomic>
#include <cstdio>

#include "tools/player/commands.hpp"
#include "tools/player/player_socket.hpp"

namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written by a signal handler");

// A second signal ends the process at once: the default action is back after the first.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_requested.store(true); };
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pixhist;
  CLI::App app{
      "A simulated detector: sends frames over ZeroMQ, and at the end one line of JSON on stdout that says "
      "what was sent and what a receiver should say about it. Stops on SIGINT or SIGTERM as at the end of "
      "the "
      "run. Exit codes: 0 done, 1 the report could not be written, 2 usage or a recording that cannot be "
      "read or written, 3 not everything could be handed "
      "over within --linger-ms (the report says flushed false), 4 socket.",
      "pixhist-player"};
  auto command = add_play_command(app);
  app.require_subcommand(0, 1);
  auto* replay_app = app.add_subcommand("replay", "sends recordings again, byte for byte");
  auto* record_app = app.add_subcommand("record", "writes a live stream into a recording");
  const auto replay = add_replay_command(*replay_app);
  const auto record = add_record_command(*record_app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? player_exit::done : player_exit::usage;
  }
  if (replay_app->parsed()) command = replay;
  if (record_app->parsed()) command = record;
  stop_on_signals();
  try {
    return command(stop_requested);
  } catch (const PlayerSocketError& error) {
    std::fprintf(stderr, "pixhist-player: %s\n", error.what());
    return player_exit::socket;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pixhist-player: %s\n", error.what());
    return player_exit::usage;
  }
}
