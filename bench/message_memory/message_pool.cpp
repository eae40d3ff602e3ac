#include "bench/message_memory/message_pool.hpp"

#include <atomic>
#include <mutex>

// glibc's own, under the names that it keeps for those who put theirs in front.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void __libc_free(void* p);

namespace pixhist::bench {
namespace {

constexpr std::size_t content_bytes = 40;  // of libzmq 4.3, in front of a body of its own
constexpr std::size_t alignment = 64;

struct FreeSlot {
  FreeSlot* next;
};

/// Constant-initialised: malloc is called before any constructor of ours.
class Pool {
 public:
  void open(std::span<std::byte> memory, std::size_t body_bytes) {
    const std::size_t slot = message_slot_bytes(body_bytes);
    for (std::size_t at = alignment - content_bytes; at + slot <= memory.size(); at += slot)
      push(reinterpret_cast<FreeSlot*>(memory.data() + at));
    end_.store(memory.data() + memory.size(), std::memory_order_relaxed);
    begin_.store(memory.data(), std::memory_order_relaxed);
    wanted_.store(content_bytes + body_bytes, std::memory_order_release);
  }

  bool serves(std::size_t bytes) const { return bytes == wanted_.load(std::memory_order_acquire); }
  bool owns(const void* p) const {
    return p >= begin_.load(std::memory_order_relaxed) && p < end_.load(std::memory_order_relaxed);
  }

  void* pop() {
    const std::lock_guard lock(mutex_);
    FreeSlot* const slot = free_;
    if (slot == nullptr)
      outside_.fetch_add(1, std::memory_order_relaxed);
    else
      free_ = slot->next;
    return slot;
  }
  void push(FreeSlot* slot) {
    const std::lock_guard lock(mutex_);
    slot->next = free_;
    free_ = slot;
  }
  std::uint64_t outside() const { return outside_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;
  FreeSlot* free_ = nullptr;  // the slot given back last is taken first: it is still in the caches
  std::atomic<const std::byte*> begin_{nullptr};
  std::atomic<const std::byte*> end_{nullptr};
  std::atomic<std::size_t> wanted_{0};  // by malloc; 0: not open
  std::atomic<std::uint64_t> outside_{0};
};

constinit Pool pool;

}  // namespace

std::size_t message_slot_bytes(std::size_t body_bytes) {
  return (content_bytes + body_bytes + alignment - 1) / alignment * alignment;
}

void serve_message_bodies(std::span<std::byte> memory, std::size_t body_bytes) {
  pool.open(memory, body_bytes);
}

std::uint64_t bodies_outside_pool() { return pool.outside(); }

}  // namespace pixhist::bench

extern "C" void* malloc(std::size_t bytes) noexcept {
  auto& pool = pixhist::bench::pool;
  if (bytes != 0 && pool.serves(bytes)) {
    // A multiple of 8, not of 16 as malloc promises: what libzmq puts in front of the pixels needs no more.
    if (void* slot = pool.pop()) return slot;
  }
  return __libc_malloc(bytes);
}

extern "C" void free(void* p) noexcept {
  auto& pool = pixhist::bench::pool;
  if (pool.owns(p))
    pool.push(static_cast<pixhist::bench::FreeSlot*>(p));
  else
    __libc_free(p);
}
