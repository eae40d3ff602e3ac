#include "bench/message_memory/batch_consumer.hpp"

#include <pthread.h>

#include <algorithm>

namespace pixhist::bench {
namespace {

constexpr std::uint64_t max_age_ns = 20'000'000;
constexpr auto device_poll = std::chrono::microseconds(200);  // as the submit thread's
constexpr auto open_poll = std::chrono::milliseconds(5);
constexpr auto idle_wait = std::chrono::milliseconds(100);

}  // namespace

BatchConsumer::BatchConsumer(std::vector<std::unique_ptr<BodyLane>>& lanes, DeviceCopy& device,
                             Doorbell& doorbell, std::size_t batch_bytes)
    : lanes_(lanes), device_(device), doorbell_(doorbell), batch_bytes_(batch_bytes), open_(lanes.size()) {}

BatchConsumer::~BatchConsumer() {
  stopping_.store(true);
  if (thread_.joinable()) thread_.join();
}

void BatchConsumer::start() {
  thread_ = std::thread([this] { run(); });
}

void BatchConsumer::add_to(Received& received) const {
  received.frames += frames_.get();
  received.bytes += bytes_.get();
  times_.add_to(received);
}

void BatchConsumer::run() {
  pthread_setname_np(pthread_self(), "consumer");
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (!step()) wait();
  }
  while (std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.lane != nullptr; })) reap();
}

bool BatchConsumer::step() {
  bool worked = reap();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    auto& open = open_[i];
    if (!open.full) {
      const std::size_t before = open.batch.frames;
      open.full = lanes_[i]->add_to(open.batch, batch_bytes_);
      if (before == 0 && open.batch.frames != 0) open.began_ns = steady_ns();
      worked |= open.batch.frames != before;
    }
    if (open.full || (open.batch.frames != 0 && steady_ns() - open.began_ns >= max_age_ns))
      worked |= submit(i);
  }
  return worked;
}

bool BatchConsumer::submit(std::size_t lane) {
  const auto slot =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.lane == nullptr; });
  if (slot == slots_.end()) return false;
  auto& open = open_[lane];
  device_.submit(static_cast<std::size_t>(slot - slots_.begin()), open.batch.pieces);
  *slot = {lanes_[lane].get(), open.batch.frames};
  open.batch.pieces.clear();
  open.batch.frames = open.batch.bytes = 0;
  open.full = false;
  return true;
}

bool BatchConsumer::reap() {
  bool worked = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto& slot = slots_[i];
    if (slot.lane == nullptr || !device_.done(i)) continue;
    slot.lane->release(slot.frames);
    slot.lane->space.ring();
    frames_.add(slot.frames);
    times_.note(steady_ns());
    slot.lane = nullptr;
    worked = true;
  }
  return worked;
}

void BatchConsumer::wait() {
  const bool copying = std::any_of(slots_.begin(), slots_.end(), [](const Slot& s) { return s.lane; });
  const bool gathering =
      std::any_of(open_.begin(), open_.end(), [](const Open& o) { return o.batch.frames; });
  const std::chrono::nanoseconds at_most = copying     ? std::chrono::nanoseconds(device_poll)
                                           : gathering ? std::chrono::nanoseconds(open_poll)
                                                       : std::chrono::nanoseconds(idle_wait);
  doorbell_.wait(at_most, [&] {
    return !copying &&
           std::any_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->has_more(); });
  });
}

}  // namespace pixhist::bench
