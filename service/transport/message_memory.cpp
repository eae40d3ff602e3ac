#include "service/transport/message_memory.hpp"

#include <malloc.h>

namespace pixhist {
namespace {

// Arenas of other threads than main consist of heaps of 64 MiB, which hold one block of almost that size.
constexpr int arena_heap = 64 << 20;
constexpr std::uint64_t largest_in_arena_heap = 60ULL << 20;
constexpr int never_mapped_alone_below = 1 << 30;
constexpr int largest_threshold_of_old_glibc = 32 << 20;  // before 2.35

}  // namespace

void keep_message_memory(std::uint64_t largest_message) {
  // Set together: to set either stops glibc from adapting both.
  if (mallopt(M_MMAP_THRESHOLD, never_mapped_alone_below) == 0)
    mallopt(M_MMAP_THRESHOLD, largest_threshold_of_old_glibc);
  mallopt(M_TRIM_THRESHOLD, never_mapped_alone_below);
  // An arena unmaps its last heap when it is empty, unless that leaves less than this at its top.
  mallopt(M_TOP_PAD, arena_heap);
  // What no heap can hold is mapped alone, whatever the threshold; main's arena has no such limit.
  if (largest_message > largest_in_arena_heap) mallopt(M_ARENA_MAX, 1);
}

}  // namespace pixhist
