#include "service/metrics/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace pixhist {
namespace {

double boot_time() {
  std::ifstream stat("/proc/stat");
  std::string key;
  for (std::string line; std::getline(stat, line);) {
    std::istringstream in(line);
    double value = 0;
    if (in >> key >> value && key == "btime") return value;
  }
  return 0;
}

/// Taken once: the kernel's time of boot moves when the clock is set, and that must not look like a restart.
double start_time(double seconds_after_boot) {
  static const double start = boot_time() + seconds_after_boot;
  return start;
}

double count_open_fds() {
  std::error_code error;
  double n = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    ++n;
  return n;
}

}  // namespace

ProcessMetrics read_process_metrics() {
  ProcessMetrics m;
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream stat("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  // Fields after the command, which is in parentheses and may hold blanks: proc(5), from field 3 on.
  const auto after = text.rfind(')');
  if (after != std::string::npos) {
    std::istringstream in(text.substr(after + 2));
    std::string field;
    for (int i = 3; in >> field && i <= 24; ++i) {
      const double value = i == 3 ? 0 : std::strtod(field.c_str(), nullptr);
      if (i == 14 || i == 15) m.cpu_seconds += value / ticks;
      if (i == 22) m.start_time_seconds = start_time(value / ticks);
      if (i == 23) m.virtual_bytes = value;
      if (i == 24) m.resident_bytes = value * static_cast<double>(sysconf(_SC_PAGESIZE));
    }
  }
  m.open_fds = count_open_fds();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) m.max_fds = static_cast<double>(limit.rlim_cur);
  return m;
}

}  // namespace pixhist
