#include "service/agents/doorbell.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace pixhist;

TEST_CASE("work that is visible before the sleep is not slept through") {
  Doorbell bell;
  bell.wait(std::chrono::hours(1), [] { return true; });
}

TEST_CASE("a ring is never lost") {
  Doorbell bell;
  std::atomic<int> work{0};
  constexpr int rounds = 2000;
  std::thread worker([&] {
    for (int done = 0; done < rounds;) {
      if (work.load() > done)
        ++done;
      else
        bell.wait(std::chrono::hours(1), [&] { return work.load() > done; });
    }
  });
  for (int i = 0; i < rounds; ++i) {
    work.fetch_add(1);
    bell.ring();
    if (i % 3 == 0) std::this_thread::yield();
  }
  worker.join();
  CHECK(work.load() == rounds);
}
