#include "service/config/command_line.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

namespace pixhist {
namespace {

constexpr int bad_usage = 2;

constexpr const char* description =
    "Takes detector frames off ZeroMQ, keeps one histogram per pixel, and answers queries about them.";

constexpr const char* epilogue = R"(
Configuration: a key is set by --set, else by the environment, else by the file, else it is at its default.
  Environment: PIXHIST__BATCH__MAX_AGE_MS=100 sets batch.max_age_ms; PIXHIST__SOURCES__0__ENDPOINT a source's.
  Values are JSON, or plain text where text is meant. Sizes: bytes, or KiB, MiB, GiB.
  All keys, with defaults and advice: --print-schema, and docs/configuration.md.

Exit codes:
  0  done: stopped by SIGTERM or SIGINT, everything received is accumulated
  1  cut short: a second signal or shutdown.timeout_s; --health: not healthy; --probe: no frame of use
  2  wrong arguments or configuration, or the histograms do not fit into memory
  3  the device asked for is not there, or was lost
  4  a socket or port could not be opened
  5  a file could not be written

Examples:
  pixhistd --config module.json
  pixhistd --set sources.0.endpoint=tcp://daq:30001 --set sources.0.socket=pull
  pixhistd --config module.json --set device.kind=cpu --check-config
  pixhistd --health http://127.0.0.1:9717/healthz
  pixhistd --probe tcp://daq:30001 > module.json
Signals: SIGTERM and SIGINT drain and stop, SIGHUP opens the log file anew.)";

}  // namespace

CommandLineResult parse_command_line(int argc, const char* const* argv) {
  CommandLineResult result;
  CommandLine& args = result.arguments;
  CLI::App app(description, "pixhistd");
  app.footer(epilogue);
  app.set_version_flag("--version", std::string("pixhistd ") + PIXHIST_VERSION, "Print the version");
  app.add_option("--config", args.config_file, "The configuration, a JSON file")->type_name("FILE");
  app.add_option("--set", args.set,
                 "Set one key, as batch.frames=64; may be repeated, the last of a key counts")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->take_all();
  auto* const check = app.add_flag("--check-config", args.check_config,
                                   "Say what would run, with the memory it takes, and exit");
  app.add_flag("--json", args.json, "With --check-config: as JSON")->needs(check);
  auto* const schema = app.add_flag("--print-schema", args.print_schema,
                                    "Print the JSON Schema of the configuration and exit");
  app.add_option("--health", args.health_url, "Ask a running service at this URL; exit 0 if healthy, else 1")
      ->type_name("URL")
      ->excludes(check)
      ->excludes(schema);
  schema->excludes(check);
  auto* const probe = app.add_option("--probe", args.probe,
                                     "Listen to one frame of this sender, print a configuration for it, exit")
                          ->type_name("ENDPOINT")
                          ->excludes(check)
                          ->excludes(schema);
  app.add_option("--format", args.probe_format,
                 "With --probe: the wire format; every one is tried if not given")
      ->type_name("FORMAT")
      ->needs(probe);
  app.add_option("--probe-socket", args.probe_socket, "With --probe: pull for a PUSH sender")
      ->check(CLI::IsMember({"sub", "pull"}))
      ->capture_default_str()
      ->needs(probe);
  app.add_option("--probe-timeout", args.probe_timeout_s, "With --probe: seconds to wait for a frame")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str()
      ->needs(probe);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    result.exit_code = code == 0 ? 0 : bad_usage;
    result.text = code == 0 ? out.str() : "pixhistd: " + err.str();
  }
  return result;
}

}  // namespace pixhist
