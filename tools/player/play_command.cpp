#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <system_error>

#include "tools/player/commands.hpp"
#include "tools/player/module_group.hpp"
#include "tools/player/module_plan.hpp"
#include "tools/player/sender_options.hpp"

namespace pixhist {

namespace {

constexpr std::uint64_t largest_frame = 1ULL << 31;  // bytes; ten 16M-pixel detectors of u32 fit

std::string generated_run() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return std::string(text) + "-" + std::to_string(getpid());
}

struct PlayArguments {
  PlayerSettings player;
  std::string modules = "1x1";
  std::uint32_t sockets = 1;
  std::string detector;
  std::uint32_t interfaces = 1;
  std::optional<std::uint32_t> bits;
  std::optional<std::uint32_t> rows, cols;
  std::optional<std::string> type;
  std::string format = "array10";
  std::optional<std::uint64_t> first;
  SlsWireSettings sls;
  double photons = 0;
  double charge_sharing = 0;
  double dead = 1.0 / 4096;
  double hot = 1.0 / 4096;
  std::vector<std::string> additional;
  std::string incomplete;
  std::string run_keys = "fresh";
  std::optional<std::string> numbers;
  SenderOptions sender;
  std::array<std::string, frame_fault_count> faults;
  std::string reorder;
  double seconds = 0;
  double pause_s = 0;
  bool no_end = false;
};

NumberSelection selection(const char* option, const std::string& text) {
  try {
    return text.empty() ? NumberSelection() : NumberSelection::parse(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(option) + ": " + error.what());
  }
}

void add_detector(CLI::App& app, PlayArguments& a) {
  auto& p = a.player;
  const auto positive = CLI::Range(std::uint32_t{1}, std::uint32_t{1} << 24);
  app.add_option("--detector", a.detector,
                 "jungfrau (512x1024 u16), moench (400x400 u16) or eiger (4 sockets a module, 256x512 each): "
                 "shape, type and sockets of a module")
      ->check(CLI::IsMember({"jungfrau", "moench", "eiger"}));
  app.add_option("--interfaces", a.interfaces,
                 "jungfrau, moench: 2 for a module read through two sockets, half the rows each")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{2}))
      ->capture_default_str();
  app.add_option("--rows", a.rows, "rows of a socket's image; default 512 or the detector's")
      ->check(positive);
  app.add_option("--cols", a.cols, "columns of it; default 1024 or the detector's")->check(positive);
  app.add_option("--type", a.type, "pixel type; default u16 or the detector's")
      ->check(CLI::IsMember({"u8", "u16", "u32", "i16", "i32", "f32", "f64"}));
  app.add_option("--bits", a.bits, "sls: bits of a pixel; 4 and 12 are sent packed; default: the type's")
      ->check(CLI::IsMember({4, 8, 12, 16, 32}));
  app.add_option("--seed", p.seed, "seed of the detector; same seed, same pixels; module m has SEED + m")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option(
         "--images", p.images.images,
         "images made before the start and shown in turn (frame n: image n mod IMAGES); 0: every frame its "
         "own, made while sending; default: what fits into 256 MiB, at most 4096")
      ->check(whole_number());
}

void add_physics(CLI::App& app, PlayArguments& a) {
  const auto* group = "Physics";
  const auto fraction = CLI::Range(0.0, 1.0);
  app.add_option(
         "--photons", a.photons,
         "mean photons in a pixel and frame, Poisson distributed, 0.0001 to 64; default: 0.05, never two "
         "in a pixel")
      ->check(amount())
      ->check(CLI::Range(0.0001, 64.0))
      ->group(group);
  app.add_option("--charge-sharing", a.charge_sharing,
                 "part of the photons (in steps of 1/256) that leave up to half their charge in a neighbour")
      ->check(amount())
      ->check(fraction)
      ->group(group);
  app.add_flag("--jungfrau-gain", a.player.physics.jungfrau_gain,
               "u16: gain stages in bits 14-15, and bright reflections that reach all three")
      ->group(group);
  app.add_option("--dead", a.dead, "part of the pixels, in steps of 1/4096, that are dead")
      ->check(amount())
      ->check(fraction)
      ->capture_default_str()
      ->group(group);
  app.add_option("--hot", a.hot, "part of the pixels that have eight times the noise")
      ->check(amount())
      ->check(fraction)
      ->capture_default_str()
      ->group(group);
}

void add_modules(CLI::App& app, PlayArguments& a) {
  app.add_option("--modules", a.modules,
                 "RxC: rows by columns of modules, down the first column first, each with its own socket, "
                 "seed and report")
      ->capture_default_str();
  app.add_option("--sockets", a.sockets, "sockets of each module, dealt its frames in turn")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{256}))
      ->capture_default_str();
}

void add_runs(CLI::App& app, PlayArguments& a) {
  auto& p = a.player;
  app.add_option("--frames", p.faults.frames, "numbers in a run; default: until --seconds or a signal")
      ->check(whole_number());
  app.add_option("--seconds", a.seconds, "stop after this time")->check(amount())->check(CLI::PositiveNumber);
  app.add_option("--rate", p.rate_hz, "frames per second; 0: as fast as the peer takes them")
      ->check(amount())
      ->capture_default_str();
  app.add_option("--first", a.first, "first frame number; default 0, sls: 1")->check(whole_number());
  app.add_option("--run", p.run, "run key; default: generated from the time");
  app.add_option("--runs", p.runs.runs, "runs of --frames numbers, one behind the other")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option("--pause", a.pause_s, "seconds between runs")->check(amount());
  app.add_option(
         "--run-keys", a.run_keys,
         "fresh: every run its own (RUN, RUN-2, RUN-3, ...; sls: fileIndex counts up); same: all have the "
         "first one's; none: frames name no run (not in sls)")
      ->check(CLI::IsMember({"fresh", "same", "none"}))
      ->capture_default_str();
  app.add_option(
         "--numbers", a.numbers,
         "again: every run begins at --first (default); on: where the one before ended (default of sls)")
      ->check(CLI::IsMember({"again", "on"}));
  auto* no_end = app.add_flag("--no-end", a.no_end, "send no end mark; the same as --end-marks 0");
  app.add_option("--end-marks", p.runs.end_marks, "end marks at the end of each run")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1000}))
      ->excludes(no_end)
      ->capture_default_str();
  app.add_option("--early-end", p.runs.early_end, "one more end mark after so many numbers of each run")
      ->check(whole_number());
}

void add_sockets(CLI::App& app, PlayArguments& a) {
  app.add_option("--format", a.format, "wire format")
      ->check(CLI::IsMember({"array10", "sls"}))
      ->capture_default_str();
  add_sender_options(app, a.sender);
}

void add_sls(CLI::App& app, PlayArguments& a) {
  app.add_option("--fname", a.sls.fname, "fname of the headers, written as it is")
      ->capture_default_str()
      ->group("Format sls");
  app.add_option("--file-index", a.sls.file_index, "fileIndex of the first run")
      ->check(whole_number())
      ->capture_default_str()
      ->group("Format sls");
  app.add_option("--json-version", a.sls.json_version, "5, or 4 (before 7.0.2: without rx_roi)")
      ->check(CLI::IsMember({4, 5}))
      ->capture_default_str()
      ->group("Format sls");
  app.add_flag("--filled-end", a.sls.filled_end, "end markers hold the settings, as from 10.1 on")
      ->group("Format sls");
  app.add_option("--sls-additional", a.additional, "KEY=VALUE for addJsonHeader; as often as needed")
      ->allow_extra_args(false)
      ->group("Format sls");
  app.add_option("--incomplete", a.incomplete,
                 "numbers sent with completeImage 0 and a quarter of their bytes 0xFF")
      ->type_name("SELECTION")
      ->group("Format sls");
}

void add_faults(CLI::App& app, PlayArguments& a) {
  auto& p = a.player;
  app.footer(
      "A SELECTION is every:K (the K-th, 2K-th, ... frame of each run), or frame numbers and ranges such as "
      "3,7,10-20,500-");
  for (const auto& row : frame_fault_table) {
    app.add_option(row.option, a.faults[static_cast<std::size_t>(row.fault)], row.help)
        ->type_name("SELECTION")
        ->group("Faults");
  }
  app.add_option("--late-by", p.faults.late_by, "how many frames later a late one is sent")
      ->check(whole_number())
      ->capture_default_str()
      ->group("Faults");
  app.add_option("--reorder", a.reorder, "every:K, K >= 2: each K-th number changes places with the next")
      ->group("Faults");
  app.add_option("--receiver-window", p.receiver_window,
                 "sequence.window of the receiver, for expected_account in the report")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str()
      ->group("Faults");
}

void read_runs(const PlayArguments& a, PlayerSettings& p) {
  if (p.run.empty()) p.run = generated_run();
  if (a.seconds > 0) p.duration = std::chrono::duration<double>(a.seconds);
  p.runs.pause = std::chrono::duration<double>(a.pause_s);
  p.runs.keys = a.run_keys == "fresh" ? RunKeys::fresh : a.run_keys == "same" ? RunKeys::same : RunKeys::none;
  const bool sls = a.format == "sls";
  p.runs.numbers_go_on = a.numbers.value_or(sls ? "on" : "again") == "on";
  p.faults.first = a.first.value_or(sls ? 1 : 0);
  if (a.no_end) p.runs.end_marks = 0;
}

void read_sockets(const PlayArguments& a, PlayerSettings& p) {
  p.socket = a.sender.settings(a.format == "sls");
  p.endpoints = a.sender.endpoints();
  p.linger = a.sender.linger();
  p.wait_subscriber = a.sender.wait_subscriber();
}

void read_faults(const PlayArguments& a, PlayerSettings& p) {
  for (const auto& row : frame_fault_table) {
    p.faults.of(row.fault) = selection(row.option, a.faults[static_cast<std::size_t>(row.fault)]);
  }
  const auto reorder = selection("--reorder", a.reorder);
  p.faults.reorder_every = reorder.period();
  if (!reorder.empty() && reorder.period() < 2) {
    throw std::invalid_argument("--reorder is '" + a.reorder + "', allowed: every:K with K >= 2");
  }
}

void read_image(const PlayArguments& a, const std::optional<DetectorKind>& kind, PlayerSettings& p) {
  if (kind) p.shape = kind->port;
  if (a.interfaces == 2) {
    if (!kind || !kind->two_interfaces) {
      throw std::invalid_argument("--interfaces 2 needs --detector jungfrau or moench");
    }
    p.shape.rows /= 2;
  }
  p.shape = {a.rows.value_or(p.shape.rows), a.cols.value_or(p.shape.cols)};
  if (kind) p.pixel_type = kind->pixel_type;
  if (a.bits) {
    p.pixel_type = *a.bits <= 8 ? PixelType::u8 : *a.bits <= 16 ? PixelType::u16 : PixelType::u32;
  }
  if (a.type) p.pixel_type = parse_pixel_type(*a.type).value();
  if (p.shape.pixels() > largest_frame / size_of(p.pixel_type)) {
    throw std::invalid_argument(std::to_string(p.shape.rows) + " rows and " + std::to_string(p.shape.cols) +
                                " columns of " + std::string(name_of(p.pixel_type)) +
                                ": a frame may have 2 GiB at most");
  }
}

void read_physics(const PlayArguments& a, DetectorPhysics& physics) {
  const auto steps = [](double part, std::uint32_t of) {
    return static_cast<std::uint32_t>(std::llround(part * of));
  };
  if (a.photons > 0) physics.photons_16 = std::max<std::uint64_t>(1, steps(a.photons, 65536));
  physics.shared_per_256 = steps(a.charge_sharing, 256);
  physics.dead_per_4096 = steps(a.dead, 4096);
  physics.hot_per_4096 = steps(a.hot, 4096);
}

SlsWireSettings read_sls(const PlayArguments& a, const std::optional<DetectorKind>& kind,
                         const PlayerSettings& p) {
  auto sls = a.sls;
  const auto bits_of_type = static_cast<std::uint32_t>(8 * size_of(p.pixel_type));
  sls.bits = a.bits.value_or(bits_of_type);
  const bool fits = sls.bits == bits_of_type || (sls.bits == 4 && p.pixel_type == PixelType::u8) ||
                    (sls.bits == 12 && p.pixel_type == PixelType::u16);
  if (!fits || !is_integer(p.pixel_type)) {
    throw std::invalid_argument("--type " + std::string(name_of(p.pixel_type)) + " and " +
                                std::to_string(sls.bits) +
                                " bits: sls sends integers of 8, 16 or 32 bits, 4 bits as u8 and 12 as u16");
  }
  if (kind) sls.det_type = kind->sls_type;
  if (kind) sls.packet_bytes = kind->packet_bytes;
  for (const auto& pair : a.additional) {
    const auto at = pair.find('=');
    if (at == std::string::npos || at == 0) {
      throw std::invalid_argument("--sls-additional is '" + pair + "'; allowed: KEY=VALUE");
    }
    sls.additional.emplace_back(pair.substr(0, at), pair.substr(at + 1));
  }
  return sls;
}

std::vector<PlayerSettings> modules_of(PlayArguments& a) {
  auto& p = a.player;
  const auto kind = find_detector(a.detector);
  read_image(a, kind, p);
  read_physics(a, p.physics);
  if (a.format == "sls")
    p.sls = read_sls(a, kind, p);
  else if (a.bits || !a.additional.empty())
    throw std::invalid_argument("--bits and --sls-additional need --format sls");
  read_runs(a, p);
  read_sockets(a, p);
  read_faults(a, p);
  p.incomplete = selection("--incomplete", a.incomplete);
  const auto grid = parse_grid(a.modules);
  const bool halves = kind && kind->half_modules;
  return plan_modules(p, halves ? plan_half_module_ports(grid) : plan_ports(grid, a.interfaces), a.sockets);
}

void print_progress(const std::vector<PlayerReport>& modules) {
  const auto r = sum_of(modules);
  const double seconds = r.seconds > 0 ? r.seconds : 1;
  std::fprintf(stderr, "\r%" PRIu64 " frames, %.0f frames/s, %.3f GB/s, %.1f s\033[K", r.frames,
               static_cast<double>(r.messages) / seconds, static_cast<double>(r.bytes) * 1e-9 / seconds,
               r.seconds);
}

int play(const std::vector<PlayerSettings>& modules, std::atomic<bool>& stop) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  ModuleGroup group(modules);
  for (const auto& player : group.players()) {
    for (const auto& endpoint : player->endpoints()) {
      std::fprintf(stderr, "pixhist-player: run %s, %s %s\n", modules.front().run.c_str(),
                   modules.front().socket.bind ? "bound to" : "connecting to", endpoint.c_str());
    }
  }
  ModuleGroup::Progress progress;
  if (terminal) progress = print_progress;
  const auto reports = group.play(stop, progress);
  if (terminal) std::fputc('\n', stderr);
  const auto sum = sum_of(reports);
  return print_report(reports.size() == 1 ? reports.front().to_json() : to_json(reports), sum.flushed);
}

}  // namespace

const CLI::Validator& whole_number() {
  static const CLI::Validator validator(
      [](const std::string& text) {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return digits ? std::string() : "'" + text + "' is not a whole number >= 0";
      },
      "WHOLE");
  return validator;
}

const CLI::Validator& amount() {
  static const CLI::Validator validator(
      [](const std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        return whole && value >= 0 && value <= 1e9 ? std::string()
                                                   : "'" + text + "' is not a number from 0 to 10^9";
      },
      "AMOUNT");
  return validator;
}

int print_report(const std::string& json, bool flushed) {
  std::printf("%s\n", json.c_str());
  if (std::fflush(stdout) != 0) return player_exit::output;
  return flushed ? player_exit::done : player_exit::not_flushed;
}

PlayerCommand add_play_command(CLI::App& app) {
  const auto arguments = std::make_shared<PlayArguments>();
  add_detector(app, *arguments);
  add_physics(app, *arguments);
  add_modules(app, *arguments);
  add_runs(app, *arguments);
  add_sockets(app, *arguments);
  add_sls(app, *arguments);
  add_faults(app, *arguments);
  return [arguments](std::atomic<bool>& stop) { return play(modules_of(*arguments), stop); };
}

}  // namespace pixhist
