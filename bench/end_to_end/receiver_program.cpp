#include "bench/end_to_end/receiver_program.hpp"

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "service/config/config_loader.hpp"
#include "service/device_choice.hpp"
#include "service/ingest_parts.hpp"
#include "service/transport/message_memory.hpp"

#if !defined(NDEBUG) || !defined(__OPTIMIZE__)
#error "a bench needs an optimised build without assertions: cmake --preset bench"
#endif

namespace pixhist::bench {
namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

nlohmann::ordered_json as_json(const Received& r) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {{"frames", r.frames},
          {"bytes", r.bytes},
          {"others", r.others},
          {"seconds", 1e-9 * static_cast<double>(r.last_ns - r.first_ns)},
          {"last_monotonic_s", 1e-9 * static_cast<double>(r.last_ns)},
          {"cpu_seconds", seconds(used.ru_utime) + seconds(used.ru_stime)},
          {"page_faults", used.ru_minflt + used.ru_majflt},
          {"ring_bytes", r.ring_bytes},
          {"ring_high_water_bytes", r.ring_high_water_bytes},
          {"outside_pool", r.outside_pool}};
}

}  // namespace

ReceiveMemory::ReceiveMemory(const Config& config) {
  const auto begin = steady_ns();
  const auto device =
      choose_device(config, config.device == DeviceKind::cpu ? CudaQuery{} : query_cuda_devices());
  backend_ = device.kind == "cuda" ? make_cuda_backend(config.device_index, config.policy, account_)
                                   : make_cpu_backend(1, account_);
  device_seconds_ = 1e-9 * static_cast<double>(steady_ns() - begin);
}

void FrameTimes::add_to(Received& received) const {
  const auto first = first_.load(std::memory_order_relaxed);
  if (first == 0) return;
  received.first_ns = received.first_ns == 0 ? first : std::min(received.first_ns, first);
  received.last_ns = std::max(received.last_ns, last_.load(std::memory_order_relaxed));
}

void answer_reports(const Readiness& readiness, const std::function<Received()>& received) {
  std::cout << nlohmann::ordered_json{{"ready", readiness.endpoints},
                                      {"memory", readiness.memory},
                                      {"memory_bytes", readiness.memory_bytes},
                                      {"memory_seconds", readiness.memory_seconds},
                                      {"device_seconds", readiness.device_seconds}}
            << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << as_json(received()) << std::endl;
}

int run_receiver(int argc, char** argv, const char* description,
                 const std::function<void(const Config&)>& body,
                 const std::function<void(CLI::App&)>& add_options) {
  CLI::App app{std::string(description) +
               "\nEach line on stdin is answered by what was received so far; the end of stdin ends it."};
  ConfigInput input;
  std::optional<std::string> device;
  app.add_option("--config", input.file, "configuration of pixhistd")->required();
  app.add_option("--set", input.set, "KEY=VALUE of it")->allow_extra_args(false)->take_all();
  app.add_option("--device", device, "cuda: receive into page-locked memory; the same as --set device.kind=")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  add_options(app);
  CLI11_PARSE(app, argc, argv);
  if (device) input.set.push_back("device.kind=" + *device);
  const auto loaded = load_config(input);
  if (!loaded.config) {
    std::cerr << loaded.error_text();
    return 2;
  }
  try {
    keep_message_memory(largest_frame(*loaded.config));
    body(*loaded.config);
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
  return 0;
}

}  // namespace pixhist::bench
