#include "service/query/snapshot_memory.hpp"

#include <cstring>
#include <utility>

namespace pixhist {

HostBlock SnapshotMemory::allocate(std::size_t bytes, Paging paging) {
  if (bytes == 0) return {};
  HostBlock kept = take_kept(bytes);
  if (kept.size() == 0) return lend(allocate_new(bytes, paging), bytes);
  std::memset(kept.data(), 0, bytes);
  return lend(std::move(kept), bytes);
}

HostBlock SnapshotMemory::allocate_to_overwrite(std::size_t bytes) {
  if (bytes == 0) return {};
  HostBlock kept = take_kept(bytes);
  return lend(kept.size() != 0 ? std::move(kept) : allocate_new(bytes, Paging::populate), bytes);
}

HostBlock SnapshotMemory::take_kept(std::size_t bytes) {
  IdleBlocks::List in_the_way;  // goes back to the system behind the lock, as everywhere here
  const std::lock_guard lock(mutex_);
  if (bytes > max_bytes_ || used() > max_bytes_ - bytes) throw SnapshotMemoryFull(bytes);
  HostBlock block = idle_.take(IdleBlocks::block_size(bytes));
  in_the_way = idle_.take_beyond(max_bytes_ - used() - bytes);
  count(used() + bytes);
  return block;
}

HostBlock SnapshotMemory::allocate_new(std::size_t bytes, Paging paging) {
  const std::size_t size = IdleBlocks::block_size(bytes);
  try {
    try {
      return backing_.allocate(size, paging);
    } catch (const std::bad_alloc&) {
      if (!give_back_all_kept()) throw;
      return backing_.allocate(size, paging);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    count(used() - bytes);
    throw;
  }
}

bool SnapshotMemory::give_back_all_kept() {
  IdleBlocks::List all;
  const std::lock_guard lock(mutex_);
  all = idle_.take_beyond(0);
  count(used());
  return !all.empty();
}

void SnapshotMemory::expire() {
  IdleBlocks::List old;
  const std::lock_guard lock(mutex_);
  old = idle_.take_older(clock_.now() - kept_for);
  count(used());
}

HostBlock SnapshotMemory::lend(HostBlock block, std::size_t bytes) {
  // The bytes change hands: from here on they come back through this object's release().
  return {*this, block.disown().first(bytes)};
}

void SnapshotMemory::release(std::span<std::byte> bytes) noexcept {
  HostBlock block(backing_, {bytes.data(), IdleBlocks::block_size(bytes.size())});
  const std::lock_guard lock(mutex_);
  count(used() - bytes.size());
  if (used() + kept() > max_bytes_ || block.size() > max_bytes_ - used() - kept()) return;
  try {
    idle_.put(std::move(block), clock_.now());
  } catch (const std::bad_alloc&) {  // no memory for the note of it: it has gone back to the system
  }
  count(used());
}

void SnapshotMemory::count(std::size_t used) {
  used_.store(used, std::memory_order_relaxed);
  kept_.store(idle_.bytes(), std::memory_order_relaxed);
}

}  // namespace pixhist
