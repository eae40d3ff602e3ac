#include "tests/service/receive_path/call_counter.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

#if defined(__SANITIZE_THREAD__)
#define PIXHIST_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PIXHIST_THREAD_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(PIXHIST_THREAD_SANITIZED)
#define PIXHIST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PIXHIST_SANITIZED 1
#endif
#endif

namespace {

thread_local pixhist::test::CallCounts counts;

#ifndef PIXHIST_THREAD_SANITIZED
void* counted(std::size_t bytes, std::size_t alignment) {
  ++counts.allocations;
  bytes = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
  if (void* p = std::aligned_alloc(alignment, bytes)) return p;
  throw std::bad_alloc();
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
#endif

}  // namespace

// ThreadSanitizer does not see libzmq; what that does with memory of ours it would take for races.
#ifndef PIXHIST_THREAD_SANITIZED
// Arrays call these by default. nothrow does, too, but a sanitizer's runtime brings its own, whose memory the
// deletes below must not get.
void* operator new(std::size_t bytes) { return counted(bytes, usual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return counted(bytes, usual);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
#endif

#ifndef PIXHIST_SANITIZED
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const Lock next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++counts.locks;
  return next(mutex);
}
#endif

namespace pixhist::test {

bool locks_are_counted() {
#ifdef PIXHIST_SANITIZED
  return false;
#else
  return true;
#endif
}

bool allocations_are_counted() {
#ifdef PIXHIST_THREAD_SANITIZED
  return false;
#else
  return true;
#endif
}

CallCounts calls() { return counts; }

}  // namespace pixhist::test
