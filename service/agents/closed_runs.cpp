#include "service/agents/closed_runs.hpp"

#include <utility>

namespace pixhist {

ClosedRuns::ClosedRuns(const std::optional<SnapshotWindow>& window, HostMemory& memory) {
  if (!window) return;
  for (auto& slot : slots_) {
    slot = std::make_shared<Slot>();
    slot->snapshot.window = *window;
    slot->snapshot.counts = memory.allocate(window->count_bytes(), Paging::populate);
    slot->snapshot.flow = memory.allocate(window->flow_bytes(), Paging::populate);
  }
}

std::shared_ptr<Snapshot> ClosedRuns::take() {
  for (auto& slot : slots_) {
    // Acquire: whoever read it last is done reading.
    if (slot == nullptr || !slot->free.load(std::memory_order_acquire)) continue;
    slot->free.store(false, std::memory_order_relaxed);
    slot->snapshot.cut = {};
    slot->snapshot.capped = 0;
    return {&slot->snapshot, [slot](Snapshot*) { slot->free.store(true, std::memory_order_release); }};
  }
  return nullptr;
}

bool ClosedRuns::has_free() const {
  for (const auto& slot : slots_) {
    if (slot != nullptr && slot->free.load(std::memory_order_acquire)) return true;
  }
  return false;
}

void ClosedRuns::publish(ClosedRun run) {
  std::optional<ClosedRun> replaced(std::move(run));
  {
    const std::lock_guard lock(mutex_);
    std::swap(last_, replaced);
  }
}

std::optional<ClosedRun> ClosedRuns::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

SnapshotPtr ClosedRuns::find(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  return last_ && last_->snapshot->cut.run == run ? last_->snapshot : nullptr;
}

}  // namespace pixhist
