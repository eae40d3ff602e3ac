#pragma once
// Several modules that play side by side, a thread each.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "tools/player/player.hpp"

namespace pixhist {

class ModuleGroup {
 public:
  /// Prepares all images and opens all sockets. Throws what Player's constructor throws.
  explicit ModuleGroup(const std::vector<PlayerSettings>& modules);

  const std::vector<std::unique_ptr<Player>>& players() const { return players_; }

  /// Reports so far, in the order of the modules; called by one module's thread at a time.
  using Progress = std::function<void(const std::vector<PlayerReport>&)>;

  /// Plays all; once. If one throws, `stop` is set, the others end as after a signal, and the first error is
  /// thrown on.
  std::vector<PlayerReport> play(std::atomic<bool>& stop, const Progress& progress);

 private:
  std::vector<std::unique_ptr<Player>> players_;
};

}  // namespace pixhist
