#include "service/query/held_snapshots.hpp"

namespace pixhist {

std::size_t HeldSnapshots::size() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

HeldSnapshot HeldSnapshots::hold(SnapshotPtr snapshot, const nlohmann::json& request_id,
                                 std::chrono::milliseconds ttl) {
  const std::lock_guard lock(mutex_);
  HeldSnapshot held{"s" + std::to_string(++made_) + "-" + snapshot->cut.run, std::move(snapshot), request_id,
                    clock_.wall() + ttl, clock_.now() + ttl};
  held_[held.id] = held;
  return held;
}

SnapshotPtr HeldSnapshots::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto it = held_.find(id);
  return it == held_.end() || it->second.deadline <= clock_.now() ? nullptr : it->second.snapshot;
}

bool HeldSnapshots::release(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return held_.erase(id) != 0;
}

void HeldSnapshots::expire() {
  const std::lock_guard lock(mutex_);
  const auto now = clock_.now();
  std::erase_if(held_, [now](const auto& entry) { return entry.second.deadline <= now; });
}

std::vector<HeldSnapshot> HeldSnapshots::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<HeldSnapshot> all;
  for (const auto& [id, held] : held_) all.push_back(held);
  return all;
}

}  // namespace pixhist
