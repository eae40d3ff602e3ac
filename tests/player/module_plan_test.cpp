#include "tools/player/module_plan.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "proto/json.hpp"
#include "tools/player/header_edit.hpp"
#include "tools/player/pixel_packing.hpp"

namespace pixhist {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("one endpoint stands for its successors") {
  CHECK(endpoints_for({"tcp://h:30001"}, 3) == Texts{"tcp://h:30001", "tcp://h:30002", "tcp://h:30003"});
  CHECK(endpoints_for({"tcp://[::1]:9"}, 2) == Texts{"tcp://[::1]:9", "tcp://[::1]:10"});
  CHECK(endpoints_for({"tcp://h:*"}, 2) == Texts{"tcp://h:*", "tcp://h:*"});
  CHECK(endpoints_for({"ipc:///a", "ipc:///b"}, 2) == Texts{"ipc:///a", "ipc:///b"});
  CHECK(endpoints_for({"ipc:///a"}, 1) == Texts{"ipc:///a"});
  for (const Texts& bad : {Texts{"ipc:///a"}, Texts{"tcp://h:65535"}, Texts{"tcp://h"}, Texts{"a", "b"}}) {
    CAPTURE(bad.front());
    CHECK_THROWS_AS(endpoints_for(bad, 3), std::invalid_argument);
  }
}

TEST_CASE("a grid is rows by columns") {
  CHECK(parse_grid("2x3").rows == 2);
  CHECK(parse_grid("2x3").columns == 3);
  for (const char* bad : {"", "2", "x", "2x", "0x1", "2x3x4", "-1x2", "65536x65536", "4097x1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_grid(bad), std::invalid_argument);
  }
}

TEST_CASE("modules go down the columns, each with sockets, seed and share of memory of its own") {
  PlayerSettings common;
  common.seed = 10;
  common.images.bytes = 600;
  common.endpoints = {"tcp://h:1000"};
  const auto modules = plan_modules(common, plan_ports({2, 3}, 1), 2);
  REQUIRE(modules.size() == 6);
  CHECK(modules[3].row == 1);
  CHECK(modules[3].column == 1);
  CHECK(modules[3].seed == 13);
  CHECK(modules[3].images.bytes == 100);
  CHECK(modules[3].endpoints == Texts{"tcp://h:1006", "tcp://h:1007"});
}

TEST_CASE("headers are spoilt where told and nowhere else") {
  std::string header = R"({"a":[1, 2], "b":"x", "ab":7})";
  replace_value(header, "b", "[3]");
  CHECK(header == R"({"a":[1, 2], "b":[3], "ab":7})");
  remove_key(header, "a");
  CHECK(header == R"({"b":[3], "ab":7})");
  remove_key(header, "ab");
  CHECK(header == R"({"b":[3]})");
  header = R"({"b":[3], "ab":7})";
  pad_header(header, 100);
  CHECK(header.size() == 100);
  CHECK(parse_json(header).at("ab") == 7);
  CHECK_THROWS_AS(remove_key(header, "c"), std::logic_error);
}

TEST_CASE("four bits: the first pixel in the high nibble; twelve: little-endian in three bytes") {
  using B = std::byte;
  const std::vector<B> image8{B{0x12}, B{0xA4}, B{0xFF}};
  std::vector<B> packed(packed_bytes(PixelPacking::four_bit, 3, PixelType::u8));
  pack_pixels(PixelPacking::four_bit, image8, packed);
  CHECK(packed == std::vector<B>{B{0x1A}, B{0xF0}});

  const std::vector<B> image16{B{0xBC}, B{0x0A}, B{0x34}, B{0x12}};  // 0x0ABC, 0x1234 (too large)
  packed.resize(packed_bytes(PixelPacking::twelve_bit, 2, PixelType::u16));
  pack_pixels(PixelPacking::twelve_bit, image16, packed);
  CHECK(packed == std::vector<B>{B{0xBC}, B{0xFA}, B{0xFF}});
}

TEST_CASE("the report of several modules adds up and keeps each as it is") {
  PlayerReport one;
  one.run = "r";
  one.note_frame(7);
  one.end_sent = one.flushed = true;
  one.of(FrameFault::late) = 3;
  one.expected_account.accumulated = 1;
  auto other = one;
  other.note_frame(3);
  other.flushed = false;
  other.stopped_by = PlayerReport::StoppedBy::signal;
  const auto json = parse_json(to_json({one, other}));
  CHECK(json.at("frames") == 3);
  CHECK(json.at("first_frame") == 3);
  CHECK(json.at("last_frame") == 7);
  CHECK(json.at("late") == 6);
  CHECK(json.at("flushed") == false);
  CHECK(json.at("end_sent") == true);
  CHECK(json.at("stopped_by") == "signal");
  CHECK(json.at("expected_account").at("accumulated") == 2);
  CHECK(json.at("modules").at(0) == parse_json(one.to_json()));
}

}  // namespace
}  // namespace pixhist
