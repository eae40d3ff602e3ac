#include "service/transport/message_memory.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>

namespace pixhist {
namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// A queue of bodies that fills to one to six and empties to half of that, as one behind an I/O thread does.
class BodyQueue {
 public:
  explicit BodyQueue(std::size_t bytes) : bytes_(bytes) {}
  BodyQueue(const BodyQueue&) = delete;
  ~BodyQueue() { empty_to(0); }

  void turn(std::size_t depth) {
    while (bodies_.size() < depth) {
      bodies_.push_back(std::malloc(bytes_));
      if (bodies_.back() == nullptr) std::abort();
      std::memset(bodies_.back(), 1, bytes_);
    }
    empty_to(depth / 2);
  }

 private:
  void empty_to(std::size_t depth) {
    for (; bodies_.size() > depth; bodies_.pop_front()) std::free(bodies_.front());
  }

  std::size_t bytes_;
  std::deque<void*> bodies_;
};

/// Page faults of 30 turns after a warm-up, in a thread that is not main, as libzmq's are not.
long faults_of_turns(std::size_t bytes) {
  long faults = 0;
  std::thread([&] {
    BodyQueue queue(bytes);
    const auto depth_of = [](std::size_t turn) { return 1 + turn * 5 % 6; };
    for (std::size_t turn = 0; turn < 12; ++turn) queue.turn(depth_of(turn));
    const long before = page_faults();
    for (std::size_t turn = 0; turn < 30; ++turn) queue.turn(depth_of(turn));
    faults = page_faults() - before;
  }).join();
  return faults;
}

constexpr std::size_t mebi = 1 << 20;
constexpr std::size_t message_overhead = 40;  // of libzmq, in the same block

/// In a process of its own, since what malloc is told holds for all of it. Messages of `bytes` and of all
/// smaller sizes are to be kept.
bool stays_mapped(std::size_t bytes, bool told) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (told) keep_message_memory(bytes);
    const long faults =
        std::max(faults_of_turns(mebi + message_overhead), faults_of_turns(bytes + message_overhead));
    _exit(faults < 64 ? 0 : 1);  // one body of 1 MiB that is mapped anew has 256
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status) == 0;
}

TEST_CASE("Freed message bodies stay mapped: no page is faulted in twice") {
  for (const std::size_t bytes : {8 * mebi, 32 * mebi, 48 * mebi, 72 * mebi}) {
    CAPTURE(bytes);
    CHECK(stays_mapped(bytes, true));
  }
}

TEST_CASE("Left alone, malloc maps large bodies anew: the check sees it") {
  CHECK_FALSE(stays_mapped(32 * mebi, false));
}

}  // namespace
}  // namespace pixhist
