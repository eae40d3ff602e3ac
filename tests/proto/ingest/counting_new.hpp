#pragma once
// counting_new.cpp replaces operator new in the program it is linked into.

#include <cstddef>

namespace pixhist::test {

/// Calls of operator new so far, of all threads.
std::size_t allocations();

}  // namespace pixhist::test
