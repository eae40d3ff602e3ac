#include "proto/ingest/decoder_registry.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/proto/support.hpp"

using namespace pixhist;

TEST_CASE("the known formats") {
  std::set<std::string_view> built;
  std::set<std::string_view> planned;
  for (const auto& format : wire_formats()) (format.built ? built : planned).insert(format.name);
  CHECK(built == std::set<std::string_view>{"array10", "sls"});
  CHECK(planned == std::set<std::string_view>{"dectris1", "dectris2", "stins", "odin"});
}

TEST_CASE("a built format has a decoder for the configured frame") {
  const auto decoder = make_decoder("array10", {{1, 2}, PixelType::u8});
  REQUIRE(decoder);
  const std::vector<std::byte> pixels(2);
  const MessagePart parts[] = {test::bytes_of(R"({"shape":[1,2],"type":"uint8"})"), pixels};
  CHECK(std::holds_alternative<FrameMessage>(decoder->decode(parts)));
}

TEST_CASE("a format that is not built or not known is an error that says which") {
  const ExpectedFrame expected{{1, 1}, PixelType::u8};
  CHECK_THROWS_WITH_AS(make_decoder("odin", expected),
                       "format \"odin\" is not built yet; allowed: array10, sls", std::invalid_argument);
  CHECK_THROWS_WITH_AS(make_decoder("hdf5", expected), "format \"hdf5\" is unknown; allowed: array10, sls",
                       std::invalid_argument);
  CHECK_THROWS_AS(make_decoder("", expected), std::invalid_argument);
}
