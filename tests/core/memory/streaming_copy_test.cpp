#include "core/memory/streaming_copy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace pixhist;

namespace {

constexpr std::byte untouched{0xA5};

std::vector<std::byte> random_bytes(std::size_t n) {
  std::vector<std::byte> bytes(n);
  std::uint32_t state = 12345;
  for (auto& b : bytes) {
    state = state * 1664525 + 1013904223;
    b = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

/// The bytes arrive, and those before and behind them stay as they are.
void check_copy(std::size_t bytes, std::size_t source_offset, std::size_t target_lines) {
  const auto source = random_bytes(source_offset + bytes);
  const auto from = std::span(source).subspan(source_offset);
  const std::size_t before = 16 * (1 + target_lines);
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory((before + bytes) / 64 + 2);
  auto* const begin = memory.front().bytes;
  const std::size_t all = memory.size() * 64;
  std::fill_n(begin, all, untouched);
  copy_streaming(from, begin + before);
  CAPTURE(bytes);
  CAPTURE(source_offset);
  CHECK(std::equal(from.begin(), from.end(), begin + before));
  CHECK(std::all_of(begin, begin + before, [](std::byte b) { return b == untouched; }));
  CHECK(std::all_of(begin + before + bytes, begin + all, [](std::byte b) { return b == untouched; }));
}

}  // namespace

TEST_CASE("a streaming copy brings every byte and no other, whatever the size and the source's alignment") {
  for (std::size_t bytes = 0; bytes <= 200; ++bytes) check_copy(bytes, bytes % 9, bytes % 4);
  for (const std::size_t bytes : {4095U, 4096U, 4097U, (1U << 20) - 1, 1U << 20, (1U << 20) + 40})
    for (const std::size_t offset : {0U, 1U, 8U, 40U}) check_copy(bytes, offset, offset % 4);
}
