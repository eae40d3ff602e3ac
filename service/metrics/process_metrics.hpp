#pragma once
// The process_* metrics that every Prometheus client has, from /proc.

namespace pixhist {

struct ProcessMetrics {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double start_time_seconds = 0;  // since the epoch
};

/// What cannot be read is 0. Any thread.
ProcessMetrics read_process_metrics();

}  // namespace pixhist
