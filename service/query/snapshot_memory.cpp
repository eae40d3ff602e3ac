#include "service/query/snapshot_memory.hpp"

namespace pixhist {

HostBlock SnapshotMemory::allocate(std::size_t bytes, Paging paging) {
  if (bytes == 0) return {};
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > max_bytes_ || used > max_bytes_ - bytes) throw SnapshotMemoryFull(bytes);
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  try {
    HostBlock block = backing_.allocate(bytes, paging);
    // The bytes change hands: from here on they come back through this object's release().
    return {*this, block.disown()};
  } catch (...) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
}

void SnapshotMemory::release(std::span<std::byte> bytes) noexcept {
  const std::size_t size = bytes.size();
  { HostBlock given_back(backing_, bytes); }
  used_.fetch_sub(size, std::memory_order_relaxed);
}

}  // namespace pixhist
