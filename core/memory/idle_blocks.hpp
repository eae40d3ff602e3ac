#pragma once
// Blocks that nobody uses just now, kept so that the next user need not ask the system: that takes page
// faults or page-locking, and the device may have to wait for it. One thread at a time.

#include <bit>
#include <chrono>
#include <cstddef>
#include <list>

#include "core/memory/host_memory.hpp"

namespace pixhist {

class IdleBlocks {
 public:
  /// Up to this size blocks come in few sizes, and some of them stay however long they are idle.
  static constexpr std::size_t largest_small = std::size_t{64} << 10;
  static constexpr std::size_t small_that_stay = std::size_t{1} << 20;

  /// The size of the block to take where `bytes` are needed: whole pages, and of small ones a power of two of
  /// them. Blocks of one size are as good as each other; no other size serves, so nothing large is wasted.
  static constexpr std::size_t block_size(std::size_t bytes) {
    constexpr std::size_t page = 4096;
    const std::size_t pages = bytes / page + (bytes % page != 0 ? 1 : 0);
    return (bytes <= largest_small ? std::bit_ceil(pages) : pages) * page;
  }

  struct Idle {
    HostBlock block;
    std::chrono::nanoseconds since;
  };
  using List = std::list<Idle>;

  std::size_t bytes() const { return bytes_; }
  /// `block` has a block_size(). May throw std::bad_alloc: the block is then given back to where it came
  /// from.
  void put(HostBlock block, std::chrono::nanoseconds now);
  /// A block of this size as its last user left it, the one used last; empty if there is none.
  HostBlock take(std::size_t size) noexcept;
  /// The blocks that have been idle longest, so that at most `bytes` stay.
  List take_beyond(std::size_t bytes) noexcept;
  /// The blocks that were put before `time`, but for small_that_stay bytes of small ones.
  List take_older(std::chrono::nanoseconds time) noexcept;

 private:
  /// Moves one of ours to the end of `list`. Returns the one behind it.
  List::iterator move_to(List& list, List::iterator idle) noexcept;

  List idle_;  // the oldest first
  std::size_t bytes_ = 0;
  std::size_t small_bytes_ = 0;
};

}  // namespace pixhist
