#include "service/agents/place_board.hpp"

#include <doctest/doctest.h>

using namespace pixhist;
using News = PlaceVerdict::News;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Modules of 4 x 8 in a detector, none of them configured.
PlaceBoard board(FrameShape detector, std::size_t sources) {
  std::vector<SourceSite> sites;
  for (std::size_t i = 0; i < sources; ++i) sites.push_back({"m" + std::to_string(i), {4, 8}, std::nullopt});
  return {detector, sites};
}

}  // namespace

TEST_CASE("place_board: side by side and stacked modules lie where their headers say, whatever comes first") {
  auto places = board({8, 16}, 4);
  const std::vector<Place> said{{0, 0}, {0, 8}, {4, 0}, {4, 8}};
  for (const std::size_t source : {3U, 0U, 2U, 1U}) {
    CHECK(places.origin(source) == PlaceOrigin::unknown);
    CHECK(places.judge(source, said[source]).news == News::taken);
    CHECK(places.judge(source, said[source]).news == News::none);
    CHECK(places.origin(source) == PlaceOrigin::header);
  }
  for (std::size_t source = 0; source < 4; ++source) CHECK(places.placed()[source].place == said[source]);
  CHECK(uncovered(places.placed(), {8, 16}).empty());
}

TEST_CASE("place_board: eiger, the bottom half module with its ports swapped and its rows flipped") {
  auto places = board({8, 16}, 4);
  CHECK(places.judge(0, {0, 0, false}).accepted());
  CHECK(places.judge(1, {0, 8, false}).accepted());
  CHECK(places.judge(2, {4, 8, true}).news == News::taken);
  CHECK(places.judge(3, {4, 0, true}).news == News::taken);
  CHECK(places.placed()[2].place == Place{4, 8, true});
  CHECK(places.placed()[3].place == Place{4, 0, true});
  CHECK(has(places.judge(3, {4, 0, false}).message, "order of rows is fixed"));
}

TEST_CASE("place_board: two ports of one module, one above the other") {
  PlaceBoard places({8, 8}, {{"port0", {4, 8}, std::nullopt}, {"port1", {4, 8}, std::nullopt}});
  CHECK(places.judge(1, {4, 0}).message == "port1 at rows [4, 8) cols [0, 8), as its header says");
  CHECK(places.judge(0, {0, 0}).news == News::taken);
}

TEST_CASE("place_board: overlap and outside are refused, both rectangles named, and leave no trace") {
  auto places = board({8, 16}, 2);
  REQUIRE(places.judge(0, {0, 0}).accepted());
  const auto overlap = places.judge(1, {3, 7, true});
  CHECK(overlap.news == News::refused);
  CHECK(has(overlap.message,
            "m1 at rows [3, 7) cols [7, 15) with flipped rows, which overlaps m0 at rows "
            "[0, 4) cols [0, 8)"));
  const auto outside = places.judge(1, {4, 9});
  CHECK(outside.news == News::refused);
  CHECK(has(outside.message,
            "m1 at rows [4, 8) cols [9, 17), which leaves the detector of rows [0, 8) cols "
            "[0, 16)"));
  CHECK_FALSE(places.judge(1, {0xFFFFFFFF, 0xFFFFFFFF}).accepted());
  CHECK(places.origin(1) == PlaceOrigin::unknown);
  CHECK_FALSE(places.placed()[1].place);
  CHECK(places.judge(1, {4, 8, false}).news == News::taken);
}

TEST_CASE("place_board: a source that has moved or turned is refused, and keeps its place") {
  auto places = board({8, 16}, 1);
  REQUIRE(places.judge(0, {0, 0}).accepted());
  const auto moved = places.judge(0, {4, 8});
  CHECK(moved.news == News::refused);
  CHECK(has(moved.message,
            "m0 at rows [4, 8) cols [8, 16); earlier headers placed m0 at rows [0, 4) cols "
            "[0, 8). A place is fixed"));
  CHECK(has(places.judge(0, {0, 0, true}).message, "m0 at rows [0, 4) cols [0, 8) with flipped rows"));
  CHECK(places.placed()[0].place == Place{0, 0, false});
  CHECK(places.judge(0, {0, 0}).news == News::none);
}

TEST_CASE("place_board: a configured origin wins, is told once, and takes the flip from the header") {
  PlaceBoard places({8, 16}, {{"m0", {4, 8}, Place{0, 0}}, {"m1", {4, 8}, Place{4, 8}}});
  CHECK(places.origin(0) == PlaceOrigin::configuration);
  CHECK(places.judge(0, {0, 0, false}).news == News::none);
  const auto differs = places.judge(1, {0, 0, true});  // would overlap m0, if it counted
  CHECK(differs.news == News::differs);
  CHECK(has(differs.message,
            "the header places m1 at rows [0, 4) cols [0, 8) with flipped rows; the "
            "configured origin puts m1 at rows [4, 8) cols [8, 16)"));
  CHECK(places.judge(1, {0, 0, true}).news == News::none);
  CHECK(places.judge(1, {0, 8, true}).news == News::none);  // told once
  CHECK(places.placed()[1].place == Place{4, 8, true});
  CHECK_FALSE(places.judge(1, {0, 0, false}).accepted());
  CHECK(places.origin(1) == PlaceOrigin::configuration);
}

TEST_CASE("place_board: a header may differ from a configured origin only later, and is told then") {
  PlaceBoard places({8, 16}, {{"m0", {4, 8}, Place{0, 0}}});
  CHECK(places.judge(0, {0, 0}).news == News::none);
  CHECK(places.judge(0, {4, 0}).news == News::differs);
  CHECK(places.judge(0, {4, 0}).news == News::none);
}

TEST_CASE("place_board: a source beside a configured one cannot take its place") {
  PlaceBoard places({8, 8}, {{"m0", {4, 8}, Place{0, 0}}, {"m1", {4, 8}, std::nullopt}});
  CHECK(has(places.judge(1, {0, 0}).message, "overlaps m0 at rows [0, 4)"));
  CHECK(places.judge(1, {4, 0}).news == News::taken);
}
