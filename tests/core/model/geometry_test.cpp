#include "core/model/geometry.hpp"

#include <doctest/doctest.h>

using namespace pixhist;

TEST_CASE("pixel numbers do not stop at 32 bits") {
  CHECK_EQ(FrameShape{4294967295, 4294967295}.pixels(), std::size_t{4294967295} * 4294967295);
  CHECK_EQ(Rect{0, 100000, 0, 100000}.pixels(), 10000000000);
}

TEST_CASE("intersection of rectangles") {
  const Rect a{0, 10, 0, 10};
  CHECK_EQ(intersection(a, {5, 15, 2, 3}), Rect{5, 10, 2, 3});
  CHECK(intersection(a, {10, 15, 0, 10}).empty());
  CHECK(intersection(a, {0, 10, 12, 14}).empty());
  CHECK(a.contains({3, 10, 0, 1}));
  CHECK_FALSE(a.contains({3, 11, 0, 1}));
}

TEST_CASE("footprint of a module") {
  CHECK_EQ(footprint({512, 1030, false}, {512, 1024}), Rect{512, 1024, 1030, 2054});
}

TEST_CASE("align16") {
  CHECK_EQ(align16(0), 0);
  CHECK_EQ(align16(1), 16);
  CHECK_EQ(align16(16), 16);
  CHECK_EQ(align16(17), 32);
}
