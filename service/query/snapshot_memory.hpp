#pragma once
// Memory for results: bounded by snapshot.max_bytes, whoever holds it (held cuts, replies in preparation,
// replies that a client has not read yet). Any thread; blocks may be given back late, by an I/O thread.

#include <atomic>
#include <cstddef>
#include <new>

#include "core/memory/host_memory.hpp"

namespace pixhist {

/// Thrown where the budget does not allow a block: an answer to the client, not a fault.
class SnapshotMemoryFull : public std::bad_alloc {
 public:
  explicit SnapshotMemoryFull(std::size_t bytes) : bytes_(bytes) {}
  const char* what() const noexcept override { return "snapshot.max_bytes is used up"; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
};

class SnapshotMemory final : public HostMemory {
 public:
  SnapshotMemory(HostMemory& backing, std::size_t max_bytes) : backing_(backing), max_bytes_(max_bytes) {}

  /// Throws SnapshotMemoryFull, or std::bad_alloc where the machine has no more.
  HostBlock allocate(std::size_t bytes, Paging paging) override;
  MemoryKind kind() const override { return backing_.kind(); }

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  void release(std::span<std::byte> bytes) noexcept override;

  HostMemory& backing_;
  const std::size_t max_bytes_;
  std::atomic<std::size_t> used_{0};
};

}  // namespace pixhist
