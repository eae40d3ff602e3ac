#include <doctest/doctest.h>

#include <cstddef>

#include "service/ingest_parts.hpp"

namespace pixhist {
namespace {

Config config_of(std::size_t sockets, FrameShape shape) {
  Config config;
  config.pixel_type = PixelType::u16;
  config.rcvhwm_bytes = 256ULL << 20;
  config.sources.resize(1);
  config.sources.front().shape = shape;
  config.sources.front().endpoints.assign(sockets, "tcp://127.0.0.1:*");
  config.sources.front().sequence = {1024, 1};
  return config;
}

TEST_CASE("the numbers of one socket are judged in the window that is configured") {
  CHECK(sequence_rules(config_of(1, {4, 4}), 0).window == 1024);
  CHECK(sequence_rules(config_of(1, {512, 1024}), 0).window == 1024);
}

TEST_CASE("those of several in one that holds what may lie in their queues") {
  CHECK(sequence_rules(config_of(2, {512, 1024}), 0).window == 1024);  // 2 x (256 + 64) are fewer
  CHECK(sequence_rules(config_of(4, {512, 1024}), 0).window == 1280);  // 4 x (256 + 64)
  CHECK(sequence_rules(config_of(2, {64, 64}), 0).window == 18'384);   // 2 x (1000 + 8192)
  CHECK(sequence_rules(config_of(16, {4, 4}), 0).window == 1 << 20);   // the largest there is
}

TEST_CASE("where every n-th number is sent, so many more numbers lie in them") {
  Config config = config_of(4, {512, 1024});
  config.sources.front().sequence.step = 10;
  CHECK(sequence_rules(config, 0).window == 12'800);
  CHECK(sequence_rules(config, 0).step == 10);
  config.sources.front().sequence.step = 0;
  CHECK(sequence_rules(config, 0).window == 1280);
}

TEST_CASE("a larger window than that stays as it is configured") {
  Config config = config_of(2, {64, 64});
  config.sources.front().sequence.window = 100'000;
  CHECK(sequence_rules(config, 0).window == 100'000);
}

}  // namespace
}  // namespace pixhist
