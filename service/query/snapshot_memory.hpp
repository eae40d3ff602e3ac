#pragma once
// Memory for results: bounded by snapshot.max_bytes, whoever holds it (held cuts, replies in preparation,
// replies that a client has not read yet). Blocks that come back are kept for the next result, within the
// same bound. Any thread; blocks may be given back late, by an I/O thread.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>

#include "core/memory/host_memory.hpp"
#include "core/memory/idle_blocks.hpp"
#include "core/time/clock.hpp"

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
  /// How long a block is kept that nobody asks for.
  static constexpr std::chrono::seconds kept_for{10};

  SnapshotMemory(HostMemory& backing, std::size_t max_bytes, const Clock& clock)
      : backing_(backing), max_bytes_(max_bytes), clock_(clock) {}

  /// Throws SnapshotMemoryFull, or std::bad_alloc where the machine has no more.
  HostBlock allocate(std::size_t bytes, Paging paging) override;
  HostBlock allocate_to_overwrite(std::size_t bytes) override;
  MemoryKind kind() const override { return backing_.kind(); }

  /// Gives back to the system what was kept for too long. To be called from time to time.
  void expire();

  /// Bytes that somebody holds.
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  /// Bytes kept for the next results. used() + kept() never exceeds max_bytes().
  std::size_t kept() const { return kept_.load(std::memory_order_relaxed); }
  std::size_t max_bytes() const { return max_bytes_; }

 private:
  /// Takes `bytes` of the budget, and a kept block for them if there is one, else an empty one.
  HostBlock take_kept(std::size_t bytes);
  HostBlock allocate_new(std::size_t bytes, Paging paging);
  /// False if nothing was kept.
  bool give_back_all_kept();
  HostBlock lend(HostBlock block, std::size_t bytes);
  void release(std::span<std::byte> bytes) noexcept override;
  /// Under the mutex.
  void count(std::size_t used);

  HostMemory& backing_;
  const std::size_t max_bytes_;
  const Clock& clock_;
  std::mutex mutex_;  // never held while memory is asked of the system or given back to it
  IdleBlocks idle_;
  std::atomic<std::size_t> used_{0};  // written under the mutex
  std::atomic<std::size_t> kept_{0};
};

}  // namespace pixhist
