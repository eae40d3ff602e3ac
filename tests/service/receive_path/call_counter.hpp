#pragma once
// Counts what the calling thread allocates (operator new, all forms, this program's and the libraries') and
// which mutexes it locks.

#include <cstdint>

namespace pixhist::test {

struct CallCounts {
  std::uint64_t allocations = 0;
  std::uint64_t locks = 0;  // pthread_mutex_lock; stays 0 in a sanitizer's build, which has its own
};

/// False where a sanitizer stands in front of pthread_mutex_lock.
bool locks_are_counted();

/// False under ThreadSanitizer, which keeps its own operator new.
bool allocations_are_counted();

/// Of this thread since it began.
CallCounts calls();

}  // namespace pixhist::test
