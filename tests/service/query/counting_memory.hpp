#pragma once

#include <atomic>
#include <new>

#include "core/memory/host_memory.hpp"

namespace pixhist::test {

/// Counts what is asked of the system; refuses beyond `room` bytes.
class CountingMemory final : public HostMemory {
 public:
  HostBlock allocate(std::size_t bytes, Paging paging) override {
    if (held_ + bytes > room) throw std::bad_alloc();
    ++allocations;
    held_ += bytes;
    return {*this, inner_.allocate(bytes, paging).disown()};
  }
  MemoryKind kind() const override { return inner_.kind(); }
  std::size_t held() const { return held_; }

  std::atomic<std::size_t> allocations{0};
  std::size_t room = std::size_t{1} << 30;

 private:
  void release(std::span<std::byte> bytes) noexcept override {
    held_ -= bytes.size();
    { HostBlock given_back(inner_, bytes); }
  }
  MemoryAccount account_;
  PageableMemory inner_{account_};
  std::atomic<std::size_t> held_{0};
};

}  // namespace pixhist::test
