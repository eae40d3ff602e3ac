#pragma once
// In the submit thread's place: gathers batches from the lanes, has at most two of them copied at a time, and
// gives their frames back once they are.

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/end_to_end/receiver_program.hpp"
#include "bench/message_memory/body_lane.hpp"
#include "core/account/frame_account.hpp"

namespace pixhist::bench {

class BatchConsumer {
 public:
  /// Lanes, device copy and doorbell outlive it. Batches have at most `batch_bytes`.
  BatchConsumer(std::vector<std::unique_ptr<BodyLane>>& lanes, DeviceCopy& device, Doorbell& doorbell,
                std::size_t batch_bytes);
  BatchConsumer(const BatchConsumer&) = delete;  // its thread refers to it
  ~BatchConsumer();

  void start();
  void add_to(Received& received) const;

 private:
  struct Slot {
    BodyLane* lane = nullptr;  // null: free
    std::size_t frames = 0;
  };
  struct Open {
    OpenBatch batch;
    bool full = false;
    std::uint64_t began_ns = 0;
  };

  void run();
  bool step();
  bool submit(std::size_t lane);
  bool reap();
  void wait();

  std::vector<std::unique_ptr<BodyLane>>& lanes_;
  DeviceCopy& device_;
  Doorbell& doorbell_;
  const std::size_t batch_bytes_;
  std::vector<Open> open_;  // one a lane
  std::array<Slot, 2> slots_;
  SingleWriterCounter frames_, bytes_;
  FrameTimes times_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pixhist::bench
