// pixhistd: arguments, configuration, signals, exit code.

#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>

#include "core/memory/host_memory.hpp"
#include "core/model/device_error.hpp"
#include "proto/json.hpp"
#include "service/config/check_config.hpp"
#include "service/config/command_line.hpp"
#include "service/config/config_loader.hpp"
#include "service/config/config_schema.hpp"
#include "service/config/memory_plan.hpp"
#include "service/device_choice.hpp"
#include "service/http/health_client.hpp"
#include "service/ingest_parts.hpp"
#include "service/logging/log.hpp"
#include "service/probe.hpp"
#include "service/service.hpp"
#include "service/transport/message_memory.hpp"
#include "service/transport/socket_error.hpp"

extern char** environ;

namespace pixhist {
namespace {

/// Each connection takes a file descriptor, and what is usual for a login is some 1000: clients that only
/// stay connected would keep senders and health probes out.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);  // refused: as many as before
}

int exit_code(ExitCode code) { return static_cast<int>(code); }

/// Blocked in all threads; main takes them with sigtimedwait.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

bool stop_requested(const sigset_t& set, std::chrono::milliseconds at_most, spdlog::logger& log) {
  const timespec timeout{0, std::chrono::duration_cast<std::chrono::nanoseconds>(at_most).count()};
  const int signal = sigtimedwait(&set, nullptr, &timeout);
  if (signal == SIGHUP) reopen_logs(log);
  return signal == SIGTERM || signal == SIGINT;
}

int run(Service& service, const sigset_t& signals, spdlog::logger& log) {
  service.start();
  constexpr auto tick = std::chrono::milliseconds(500);
  while (!service.failure() && !stop_requested(signals, tick, log)) service.tick();
  // Asked in each stage of the way out, while the signal can be taken only once.
  bool cut_short = false;
  return exit_code(service.stop([&] {
    cut_short = cut_short || stop_requested(signals, std::chrono::milliseconds(0), log);
    return cut_short;
  }));
}

/// Whether a start would take the GPU.
bool uses_cuda(const Config& config) {
  if (config.device == DeviceKind::cpu) return false;
  try {
    return choose_device(config, query_cuda_devices()).kind == "cuda";
  } catch (const DeviceMissing&) {
    return false;
  }
}

std::string memory_advice(const Config& config) {
  const auto plan = plan_memory(config, uses_cuda(config));
  return "Needed at start: " + human_bytes(plan.total(MemoryKind::host)) + " of host memory, " +
         human_bytes(plan.total(MemoryKind::pinned)) + " of page-locked, " +
         human_bytes(plan.total(MemoryKind::device)) + " of device memory (" + std::to_string(plan.total()) +
         " bytes in all). Lower ring.bytes, axis.bins or the number of pixels; --check-config lists what "
         "takes how much.";
}

int serve(const LoadResult& loaded) {
  raise_file_limit();
  keep_message_memory(largest_frame(*loaded.config));
  const sigset_t signals = block_signals();
  auto log = make_logger(*loaded.config);
  for (const auto& warning : loaded.warnings) log->warn("{}", warning.text());
  log->info("pixhist {} with configuration {}", PIXHIST_VERSION,
            dump_json(parse_ordered_json(loaded.effective_json)));
  try {
    Service service(*loaded.config, log);
    return run(service, signals, *log);
  } catch (const DeviceMissing& e) {
    log->critical("{}", e.what());
    return exit_code(ExitCode::device);
  } catch (const SocketError& e) {
    log->critical("{}", e.what());
    return exit_code(ExitCode::socket);
  } catch (const DeviceLost& e) {
    log->critical("the device failed at start: {}", e.what());
    return exit_code(ExitCode::device);
  } catch (const PinningRefused& e) {
    log->critical("{}", e.what());
  } catch (const DeviceMemoryError& e) {
    log->critical("{}. {}", e.what(), memory_advice(*loaded.config));
  } catch (const std::domain_error& e) {
    log->critical("device.policy: {}", e.what());
  } catch (const std::invalid_argument& e) {
    log->critical("{}. {}", e.what(), memory_advice(*loaded.config));
  } catch (const std::bad_alloc&) {
    log->critical("this machine has not enough memory. {}", memory_advice(*loaded.config));
  }
  return exit_code(ExitCode::configuration);
}

int check(const LoadResult& loaded, bool json) {
  const bool ok = loaded.config.has_value();
  const auto plan = ok ? plan_memory(*loaded.config, uses_cuda(*loaded.config)) : MemoryPlan{};
  if (json)
    std::cout << check_config_json(loaded, plan);
  else if (ok)
    std::cout << check_config_text(loaded, plan);
  else
    std::cerr << loaded.error_text();
  return exit_code(ok ? ExitCode::done : ExitCode::configuration);
}

int run_probe(const CommandLine& arguments) {
  ProbeOptions options;
  options.endpoint = *arguments.probe;
  options.format = arguments.probe_format;
  options.socket = arguments.probe_socket == "pull" ? SocketKind::pull : SocketKind::sub;
  options.timeout = std::chrono::seconds(arguments.probe_timeout_s);
  try {
    const auto result = probe(options);
    std::cerr << result.explanation;
    std::cout << result.configuration;
    return exit_code(result.found ? ExitCode::done : ExitCode::cut_short);
  } catch (const SocketError& e) {
    std::cerr << "--probe: " << e.what() << '\n';
    return exit_code(ExitCode::socket);
  } catch (const std::invalid_argument& e) {
    std::cerr << "--format: " << e.what() << '\n';
    return exit_code(ExitCode::configuration);
  }
}

int main_with(const CommandLine& arguments) {
  if (arguments.print_schema) {
    std::cout << schema_json();
    return exit_code(ExitCode::done);
  }
  if (arguments.health_url) {
    const auto probe = probe_health(*arguments.health_url);
    (probe.healthy ? std::cout : std::cerr) << probe.text << '\n';
    return exit_code(probe.healthy ? ExitCode::done : ExitCode::cut_short);
  }
  if (arguments.probe) return run_probe(arguments);
  const LoadResult loaded = load_config({arguments.config_file, read_environment(environ), arguments.set});
  if (arguments.check_config) return check(loaded, arguments.json);
  if (!loaded.config) {
    std::cerr << loaded.error_text();
    return exit_code(ExitCode::configuration);
  }
  return serve(loaded);
}

/// The exit code, unless what was printed is lost, as on a full disk.
int if_printed(int code) {
  if (std::cout.flush()) return code;
  std::cerr << "pixhistd: cannot write to standard output; is the disk full?\n";
  return exit_code(ExitCode::disk);
}

}  // namespace
}  // namespace pixhist

int main(int argc, char** argv) {
  const auto parsed = pixhist::parse_command_line(argc, argv);
  if (parsed.exit_code) {
    (*parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.text;
    return pixhist::if_printed(*parsed.exit_code);
  }
  try {
    return pixhist::if_printed(pixhist::main_with(parsed.arguments));
  } catch (const pixhist::LogFileError& e) {
    std::cerr << e.what() << '\n';
    return static_cast<int>(pixhist::ExitCode::disk);
  } catch (const std::exception& e) {
    std::cerr << "pixhistd: " << e.what() << '\n';
    return static_cast<int>(pixhist::ExitCode::cut_short);
  }
}
