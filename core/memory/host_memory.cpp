#include "core/memory/host_memory.hpp"

#include <sys/mman.h>

#include <new>

namespace pixhist {

HostBlock PageableMemory::allocate(std::size_t bytes, Paging paging) {
  if (bytes == 0) return {};
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (paging == Paging::populate ? MAP_POPULATE : 0);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  account_.add(MemoryKind::host, bytes);
  return {*this, {static_cast<std::byte*>(p), bytes}};
}

void PageableMemory::release(std::span<std::byte> bytes) noexcept {
  munmap(bytes.data(), bytes.size());
  account_.remove(MemoryKind::host, bytes.size());
}

}  // namespace pixhist
