// pixhist-player: a simulated detector that sends frames over ZeroMQ and says what it sent.

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <limits>

#include "tools/player/player.hpp"

namespace {

using pixhist::NumberSelection;
using pixhist::PlayerSettings;
using pixhist::PlayerSocketSettings;

constexpr int exit_usage = 2;
constexpr int exit_socket = 4;
constexpr std::uint64_t largest_frame = 1ULL << 31;  // bytes; ten 16M-pixel detectors of u32 fit

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

std::string generated_run() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return std::string(text) + "-" + std::to_string(getpid());
}

// CLI11 reads -1 into an unsigned integer as 2^64 - 1.
const CLI::Validator whole_number(
    [](const std::string& text) {
      const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
      return digits ? std::string() : "'" + text + "' is not a whole number >= 0";
    },
    "WHOLE");

struct Arguments {
  PlayerSettings player;
  std::string type = "u16";
  std::string socket = "push";
  std::string bind, connect;
  std::string skip, duplicate, reorder, bad_header, wrong_size;
  double seconds = 0;
  double wait_subscriber_s = 0;
  std::int64_t linger_ms = 10'000;
  bool no_end = false;
};

NumberSelection selection(const char* option, const std::string& text) {
  try {
    return text.empty() ? NumberSelection() : NumberSelection::parse(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(option) + ": " + error.what());
  }
}

void add_options(CLI::App& app, Arguments& a) {
  auto& p = a.player;
  const auto positive = CLI::Range(std::uint32_t{1}, std::uint32_t{1} << 24);
  app.add_option("--rows", p.shape.rows, "rows of a frame")->check(positive)->capture_default_str();
  app.add_option("--cols", p.shape.cols, "columns of a frame")->check(positive)->capture_default_str();
  app.add_option("--type", a.type, "pixel type")
      ->check(CLI::IsMember({"u8", "u16", "u32", "i16", "i32", "f32", "f64"}))
      ->capture_default_str();
  app.add_option("--seed", p.seed, "seed of the detector; same seed, same pixels")
      ->check(whole_number)
      ->capture_default_str();
  app.add_option(
         "--images", p.images,
         "images made before the start and shown in turn (frame n: image n mod IMAGES); 0: every frame its "
         "own, made while sending; default: what fits into 256 MiB, at most 4096")
      ->check(whole_number);

  app.add_option("--frames", p.faults.frames, "numbers in the run; default: until --seconds or a signal")
      ->check(whole_number);
  app.add_option("--seconds", a.seconds, "stop after this time")->check(CLI::PositiveNumber);
  app.add_option("--rate", p.rate_hz, "frames per second; 0: as fast as the peer takes them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--first", p.faults.first, "first frame number")->check(whole_number)->capture_default_str();
  app.add_option("--run", p.run, "run key; default: generated from the time");
  app.add_flag("--no-end", a.no_end, "send no end mark");

  app.add_option("--format", "wire format")->check(CLI::IsMember({"array10"}))->default_str("array10");
  app.add_option("--socket", a.socket,
                 "push: waits for a slow peer; pub: leaves out (and counts) what a slow peer "
                 "has no room for")
      ->check(CLI::IsMember({"push", "pub"}))
      ->capture_default_str();
  auto* bind = app.add_option("--bind", a.bind, "endpoint to bind; port * takes a free one");
  app.add_option("--connect", a.connect, "endpoint to connect to; default " + p.socket.endpoint)
      ->excludes(bind);
  app.add_option("--queue-bytes", p.socket.queue_bytes,
                 "bound of the send queue, rounded down to frames, at least one")
      ->check(whole_number)
      ->capture_default_str();
  app.add_option("--linger-ms", a.linger_ms, "longest wait at the end for the queue to empty")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{std::numeric_limits<int>::max()}))
      ->capture_default_str();
  app.add_option("--wait-subscriber", a.wait_subscriber_s,
                 "pub: seconds to wait for a first subscriber before sending; 0: do not wait")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();

  const std::string which = " (every:K, or numbers and ranges: 3,7,10-20)";
  app.add_option("--skip", a.skip, "numbers never sent" + which);
  app.add_option("--duplicate", a.duplicate, "numbers sent twice" + which);
  app.add_option("--reorder", a.reorder, "every:K, K >= 2: each K-th number changes places with the next");
  app.add_option("--bad-header", a.bad_header, "numbers sent with a header that is not JSON" + which);
  app.add_option("--wrong-size", a.wrong_size, "numbers sent with a byte of pixels too few" + which);
}

PlayerSettings settings_of(Arguments& a) {
  auto& p = a.player;
  p.pixel_type = pixhist::parse_pixel_type(a.type).value();
  if (p.shape.pixels() > largest_frame / size_of(p.pixel_type)) {
    throw std::invalid_argument("--rows " + std::to_string(p.shape.rows) + " --cols " +
                                std::to_string(p.shape.cols) + " of " + a.type +
                                ": a frame may have 2 GiB at most");
  }
  if (p.run.empty()) p.run = generated_run();
  if (a.seconds > 0) p.duration = std::chrono::duration<double>(a.seconds);
  if (a.wait_subscriber_s > 0) {
    p.wait_subscriber = std::chrono::milliseconds(static_cast<std::int64_t>(a.wait_subscriber_s * 1000));
  }
  p.send_end = !a.no_end;

  p.socket.kind = a.socket == "push" ? PlayerSocketSettings::Kind::push : PlayerSocketSettings::Kind::pub;
  p.socket.bind = !a.bind.empty();
  if (p.socket.bind)
    p.socket.endpoint = a.bind;
  else if (!a.connect.empty())
    p.socket.endpoint = a.connect;
  p.socket.linger = std::chrono::milliseconds(a.linger_ms);

  p.faults.skip = selection("--skip", a.skip);
  p.faults.duplicate = selection("--duplicate", a.duplicate);
  p.faults.bad_header = selection("--bad-header", a.bad_header);
  p.faults.wrong_size = selection("--wrong-size", a.wrong_size);
  const auto reorder = selection("--reorder", a.reorder);
  p.faults.reorder_every = reorder.period();
  if (!reorder.empty() && reorder.period() < 2) {
    throw std::invalid_argument("--reorder is '" + a.reorder + "', allowed: every:K with K >= 2");
  }
  return p;
}

void print_progress(const pixhist::PlayerReport& r) {
  const double seconds = r.seconds > 0 ? r.seconds : 1;
  std::fprintf(stderr, "\r%" PRIu64 " frames, %.0f frames/s, %.3f GB/s, %.1f s\033[K", r.frames,
               static_cast<double>(r.messages) / seconds, static_cast<double>(r.bytes) * 1e-9 / seconds,
               r.seconds);
}

int play(const PlayerSettings& settings) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  pixhist::Player player(settings);
  std::fprintf(stderr, "pixhist-player: run %s, %s %s\n", settings.run.c_str(),
               settings.socket.bind ? "bound to" : "connecting to", player.endpoint().c_str());
  pixhist::Player::Progress progress;
  if (terminal) progress = print_progress;
  const auto report = player.play(stop_requested, progress);
  if (terminal) std::fputc('\n', stderr);
  std::printf("%s\n", report.to_json().c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "A simulated detector: sends frames over ZeroMQ, and at the end one line of JSON on stdout that says "
      "what was "
      "sent. Stops on SIGINT or SIGTERM as at the end of the run. Exit codes: 0 done, 2 usage, 4 socket.",
      "pixhist-player"};
  Arguments arguments;
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  stop_on_signals();
  try {
    return play(settings_of(arguments));
  } catch (const pixhist::PlayerSocketError& error) {
    std::fprintf(stderr, "pixhist-player: %s\n", error.what());
    return exit_socket;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pixhist-player: %s\n", error.what());
    return exit_usage;
  }
}
