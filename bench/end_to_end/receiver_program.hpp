#pragma once
// What the receivers that the service is measured against have in common: they take the service's own
// configuration, say when they are ready, and answer each line on stdin with a line of JSON on stdout.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/memory/host_memory.hpp"
#include "service/backend.hpp"
#include "service/config/config.hpp"

namespace CLI {
class App;
}

namespace pixhist::bench {

/// Since the start. Times in nanoseconds of the steady clock; 0: no frame yet.
struct Received {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;   // of pixels
  std::uint64_t others = 0;  // end marks and whatever else is no good frame
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t ring_bytes = 0;  // of the ring that was filled most, in proportion to its size
  std::uint64_t ring_high_water_bytes = 0;
  std::uint64_t outside_pool = 0;  // message bodies for which a pool had no slot
};

/// The memory that the service would receive into, page-locked where it would take a device.
class ReceiveMemory {
 public:
  explicit ReceiveMemory(const Config& config);
  HostMemory& host() { return backend_->host_memory(); }
  MemoryAccount& account() { return account_; }
  double device_seconds() const { return device_seconds_; }

 private:
  MemoryAccount account_;
  double device_seconds_ = 0;  // to find and open the device
  std::unique_ptr<Backend> backend_;
};

struct Readiness {
  std::vector<std::string> endpoints;  // as bound or connected
  std::string memory;                  // host or pinned
  std::uint64_t memory_bytes = 0;
  double memory_seconds = 0;  // to allocate, populate and page-lock them
  double device_seconds = 0;
};

/// Prints `readiness`, then what `received` says for each line of stdin until its end.
void answer_reports(const Readiness& readiness, const std::function<Received()>& received);

/// Loads the configuration (--config, --set), tells malloc about its frames, runs `body`. Exit code of main.
/// `add_options`: those of this program alone.
int run_receiver(int argc, char** argv, const char* description,
                 const std::function<void(const Config&)>& body,
                 const std::function<void(CLI::App&)>& add_options = [](CLI::App&) {});

inline std::uint64_t steady_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds(1));
}

/// Times of frames, written by one thread, read by any.
class FrameTimes {
 public:
  void note(std::uint64_t now_ns) {
    if (first_.load(std::memory_order_relaxed) == 0) first_.store(now_ns, std::memory_order_relaxed);
    last_.store(now_ns, std::memory_order_relaxed);
  }
  /// Widens the times of `received` by these.
  void add_to(Received& received) const;

 private:
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> last_{0};
};

}  // namespace pixhist::bench
