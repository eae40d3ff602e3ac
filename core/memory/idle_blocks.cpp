#include "core/memory/idle_blocks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pixhist {
namespace {

bool is_small(std::size_t size) { return size <= IdleBlocks::largest_small; }

}  // namespace

void IdleBlocks::put(HostBlock block, std::chrono::nanoseconds now) {
  const std::size_t size = block.size();
  idle_.push_back({std::move(block), now});
  bytes_ += size;
  if (is_small(size)) small_bytes_ += size;
}

HostBlock IdleBlocks::take(std::size_t size) noexcept {
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                  [size](const Idle& idle) { return idle.block.size() == size; });
  if (found == idle_.rend()) return {};
  List taken;
  move_to(taken, std::next(found).base());
  return std::move(taken.front().block);
}

IdleBlocks::List IdleBlocks::take_beyond(std::size_t bytes) noexcept {
  List taken;
  while (bytes_ > bytes) move_to(taken, idle_.begin());
  return taken;
}

IdleBlocks::List IdleBlocks::take_older(std::chrono::nanoseconds time) noexcept {
  List taken;
  for (auto idle = idle_.begin(); idle != idle_.end() && idle->since < time;) {
    const bool stays = is_small(idle->block.size()) && small_bytes_ <= small_that_stay;
    idle = stays ? std::next(idle) : move_to(taken, idle);
  }
  return taken;
}

IdleBlocks::List::iterator IdleBlocks::move_to(List& list, List::iterator idle) noexcept {
  const std::size_t size = idle->block.size();
  bytes_ -= size;
  if (is_small(size)) small_bytes_ -= size;
  const auto behind = std::next(idle);
  list.splice(list.end(), idle_, idle);
  return behind;
}

}  // namespace pixhist
