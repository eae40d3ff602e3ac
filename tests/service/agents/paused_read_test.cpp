#include "service/agents/paused_read.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/service/agents/short_of_memory.hpp"

using namespace pixhist;
using test::ShortOfMemory;

namespace {

constexpr FrameShape read_shape = ShortOfMemory::shape;
constexpr std::uint32_t bins = ShortOfMemory::bins;

struct Answer {
  std::shared_ptr<Snapshot> snapshot = std::make_shared<Snapshot>();
  std::uint64_t capped = 0;
  std::uint64_t frames = 0;
};

Answer read_all(ShortOfMemory& counts, bool flip) {
  Answer answer;
  answer.snapshot->window = {Rect::whole(read_shape), {0, bins}, StorageType::u16};
  answer.snapshot->counts = counts.memory.allocate(answer.snapshot->window.count_bytes(), Paging::on_demand);
  answer.snapshot->flow = counts.memory.allocate(answer.snapshot->window.flow_bytes(), Paging::on_demand);
  const PlacedSource placed[] = {{read_shape, Place{0, 0, flip}}};
  for (const auto& piece : plan_assembly(placed, *answer.snapshot)) {
    const auto read = begin_part(counts, piece, true);
    while (!read->ready()) {
    }
    answer.capped += read->capped();
    answer.frames = read->frames();
  }
  return answer;
}

bool same(const HostBlock& a, const HostBlock& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

}  // namespace

TEST_CASE("a paused read in blocks of rows gives what one read gives") {
  ShortOfMemory counts;
  counts.fill();
  for (const bool flip : {false, true}) {
    counts.room = read_shape.pixels() * bins;
    counts.rows_read.clear();
    const Answer whole = read_all(counts, flip);
    CHECK(counts.rows_read == std::vector<std::uint32_t>{13});
    CHECK(whole.capped > 0);
    for (const std::uint32_t rows : {1U, 2U, 3U, 5U, 6U, 12U}) {
      CAPTURE(rows);
      counts.room = rows * read_shape.cols * bins + 1;
      counts.rows_read.clear();
      const Answer blocks = read_all(counts, flip);
      CHECK(counts.rows_read.size() > 1);
      CHECK(*std::max_element(counts.rows_read.begin(), counts.rows_read.end()) <= rows);
      CHECK(same(blocks.snapshot->counts, whole.snapshot->counts));
      CHECK(same(blocks.snapshot->flow, whole.snapshot->flow));
      CHECK(blocks.capped == whole.capped);
      CHECK(blocks.frames == 77);
    }
  }
}

TEST_CASE("without pause, for a reduction, or for a single row there is no way around the memory") {
  ShortOfMemory counts;
  AssemblyPiece piece;
  piece.source = 0;
  piece.window = {Rect::whole(read_shape), {0, bins}};
  std::vector<std::uint32_t> out(read_shape.pixels() * bins);
  piece.target.counts = reinterpret_cast<std::byte*>(out.data());
  piece.target.row_stride = read_shape.cols * bins * 4;
  counts.room = 5 * read_shape.cols * bins;
  CHECK_THROWS_AS(begin_part(counts, piece, false), DeviceMemoryError);
  CHECK_NOTHROW(begin_part(counts, piece, true));
  counts.room = read_shape.cols * bins - 1;
  CHECK_THROWS_AS(begin_part(counts, piece, true), DeviceMemoryError);
  piece.reduction = ReductionKind::sum;
  CHECK_THROWS_AS(begin_part(counts, piece, true), DeviceMemoryError);
}
