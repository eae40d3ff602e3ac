#pragma once
// Cuts held under an id until they are released or expire. Bounded in number here, in bytes by the
// SnapshotMemory their blocks come from. Any thread; one mutex, held for map operations only.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/snapshot.hpp"
#include "core/time/clock.hpp"

namespace pixhist {

struct HeldSnapshot {
  std::string id;
  SnapshotPtr snapshot;
  nlohmann::json request_id;  // of the request that made it
  WallTime expires_at;
  std::chrono::nanoseconds deadline{};
};

class HeldSnapshots {
 public:
  HeldSnapshots(const Clock& clock, std::size_t max_held) : clock_(clock), max_held_(max_held) {}

  std::size_t size() const;
  /// The caller keeps size() below max_held(). Returns what is held, with its new id.
  HeldSnapshot hold(SnapshotPtr snapshot, const nlohmann::json& request_id, std::chrono::milliseconds ttl);
  SnapshotPtr find(const std::string& id) const;
  bool release(const std::string& id);
  /// Drops what has expired.
  void expire();
  std::vector<HeldSnapshot> list() const;
  std::size_t max_held() const { return max_held_; }

 private:
  const Clock& clock_;
  const std::size_t max_held_;
  mutable std::mutex mutex_;
  std::map<std::string, HeldSnapshot> held_;
  std::uint64_t made_ = 0;
};

}  // namespace pixhist
