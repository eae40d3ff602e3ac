#include "tools/player/module_group.hpp"

#include <exception>
#include <mutex>
#include <thread>

namespace pixhist {

ModuleGroup::ModuleGroup(const std::vector<PlayerSettings>& modules) {
  for (const auto& module : modules) players_.push_back(std::make_unique<Player>(module));
}

std::vector<PlayerReport> ModuleGroup::play(std::atomic<bool>& stop, const Progress& progress) {
  std::mutex mutex;
  std::exception_ptr first_error;
  std::vector<PlayerReport> reports(players_.size());
  const auto play_one = [&](std::size_t m) {
    Player::Progress one;
    if (progress) {
      one = [&, m](const PlayerReport& so_far) {
        const std::lock_guard lock(mutex);
        reports[m] = so_far;
        progress(reports);
      };
    }
    try {
      auto report = players_[m]->play(stop, one);
      const std::lock_guard lock(mutex);
      reports[m] = std::move(report);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
      stop.store(true);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t m = 0; m < players_.size(); ++m) threads.emplace_back(play_one, m);
  for (auto& thread : threads) thread.join();
  if (first_error) std::rethrow_exception(first_error);
  return reports;
}

}  // namespace pixhist
