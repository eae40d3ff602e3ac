// Answers that take memory which another answer has used before.

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/service/query/query_bench.hpp"

using namespace pixhist;
using test::QueryBench;

namespace {

/// Two sources side by side, of which only the left one has a place: columns 3 to 5 are of no source.
struct HalfPlaced : QueryBench {
  HalfPlaced() : QueryBench(2, false) {
    REQUIRE(submit.places.judge(0, Place{0, 0, false}).accepted());
    submit.send(0, 7);
    submit.send(1, 7);
  }
  /// Leaves traces in every block that an answer may get.
  void dirty() {
    std::vector<HostBlock> blocks;
    for (std::size_t bytes = 4096; bytes <= IdleBlocks::largest_small; bytes *= 2) {
      for (int i = 0; i < 8; ++i) blocks.push_back(memory.allocate_to_overwrite(bytes));
    }
    for (const auto& block : blocks) std::fill(block.bytes().begin(), block.bytes().end(), std::byte{0xA5});
  }
  test::QueryClientSocket::Reply ask(const std::string& op, nlohmann::json args = nlohmann::json::object()) {
    dirty();
    const std::size_t allocations = system.allocations;
    args["fresh"] = true;
    asking->ask(op, args);
    auto reply = reply_to(*asking);
    CHECK(system.allocations == allocations);  // so it was such a block
    return reply;
  }
  std::unique_ptr<test::QueryClientSocket> asking = client();
};

}  // namespace

TEST_CASE("pixels of no source read 0 whatever their memory held before") {
  HalfPlaced bench;
  for (int round = 0; round < 2; ++round) {
    for (const auto& cols : {std::pair{0U, 6U}, std::pair{2U, 5U}, std::pair{4U, 5U}}) {
      const unsigned col_begin = cols.first;
      const unsigned col_end = cols.second;
      CAPTURE(col_begin);
      const auto reply = bench.ask("values", {{"roi", {0, 2, col_begin, col_end}}});
      const auto counts = reply.values<std::uint32_t>();
      REQUIRE(counts.size() == std::size_t{2} * (col_end - col_begin) * 16);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t col = col_begin + i / 16 % (col_end - col_begin);
        REQUIRE(counts[i] == (col < 3 && i % 16 == 7 ? 2U : 0U));
      }
    }
  }
}

TEST_CASE("flow, images, moments and spectra have no trace of earlier answers") {
  HalfPlaced bench;
  const auto pixel = bench.ask("pixel", {{"row", 1}, {"col", 4}});
  for (const char* flow : {"below", "above", "invalid", "other_stage"}) CHECK(pixel.result()[flow] == 0);
  for (const auto count : pixel.values<std::uint32_t>()) CHECK(count == 0);

  const std::vector<std::uint64_t> wanted{2, 2, 2, 0, 0, 0, 2, 2, 2, 0, 0, 0};
  CHECK(bench.ask("image").values<std::uint64_t>() == wanted);
  CHECK(bench.ask("moments").values<std::uint64_t>() == wanted);
  const auto median = bench.ask("image", {{"stat", "median"}}).values<double>();
  CHECK(median[0] == 7.5);
  CHECK(median[3] != median[3]);  // NaN: no counts

  auto spectrum = bench.ask("spectrum").values<std::uint64_t>();
  CHECK(spectrum[7] == 12);
  spectrum[7] = 0;
  CHECK(std::all_of(spectrum.begin(), spectrum.end(), [](auto n) { return n == 0; }));
}

TEST_CASE("answers of held cuts and differences have no trace of earlier answers") {
  HalfPlaced bench;
  const auto held = bench.ask("snapshot").result()["snapshot"];
  bench.submit.send(2, 7);
  const auto since = bench.ask("values", {{"since", held}}).values<std::uint32_t>();
  for (std::size_t i = 0; i < since.size(); ++i)
    REQUIRE(since[i] == (i / 16 % 6 < 3 && i % 16 == 7 ? 1U : 0U));
  bench.dirty();
  bench.asking->ask("values", {{"snapshot", held}, {"roi", {0, 1, 2, 4}}, {"bins", {6, 8}}});
  CHECK(bench.reply_to(*bench.asking).values<std::uint32_t>() == std::vector<std::uint32_t>{0, 2, 0, 0});
}
