#include "service/agents/run_board.hpp"

#include <doctest/doctest.h>

using namespace pixhist;

TEST_CASE("run ids are UTC start and number") {
  const WallTime t{std::chrono::seconds(1'769'860'800)};  // 2026-01-31 12:00:00 UTC
  CHECK(make_run_id(t, 7) == "20260131T120000Z-0007");
  CHECK(make_run_id(t, 12345) == "20260131T120000Z-12345");
}
