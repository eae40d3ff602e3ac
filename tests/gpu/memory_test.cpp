#include <doctest/doctest.h>

#include <vector>

#include "core/accumulators/pixel_histogram/cuda_pixel_histogram.hpp"

using namespace pixhist;

TEST_CASE("device memory is counted and given back") {
  MemoryAccount account;
  {
    const DeviceBuffer a(1000, account);
    DeviceBuffer b(2000, account);
    CHECK(account.bytes(MemoryKind::device) == 3000);
    const DeviceBuffer c = std::move(b);
    CHECK(b.size() == 0);
    CHECK(account.bytes(MemoryKind::device) == 3000);
  }
  CHECK(account.bytes(MemoryKind::device) == 0);
}

TEST_CASE("more than the device has is refused with the bytes, and the device goes on") {
  MemoryAccount account;
  constexpr std::size_t too_much = std::size_t{1} << 44;
  try {
    const DeviceBuffer buffer(too_much, account);
    FAIL("16 TiB were allocated");
  } catch (const DeviceMemoryError& e) {
    CHECK(e.needed() == too_much);
    CHECK(e.available() > 0);
  }
  CHECK(account.bytes(MemoryKind::device) == 0);
  const CudaStream stream;
  CHECK_THROWS_AS(AsyncBuffer(too_much, stream), DeviceMemoryError);
  const DeviceBuffer buffer(1000, account);
  CHECK(buffer.data() != nullptr);
}

TEST_CASE("pinned memory is zeroed, counted, and refused with advice") {
  MemoryAccount account;
  PinnedMemory memory(account, 0);
  {
    const HostBlock block = memory.allocate(1 << 20, Paging::populate);
    CHECK(account.bytes(MemoryKind::pinned) == 1 << 20);
    for (const auto b : block.bytes()) REQUIRE(b == std::byte{0});
  }
  CHECK(account.bytes(MemoryKind::pinned) == 0);
  try {
    memory.allocate(std::size_t{1} << 46, Paging::populate);
    FAIL("64 TiB were pinned");
  } catch (const PinningRefused& e) {
    const std::string message = e.what();
    CHECK(message.find("ring.bytes") != std::string::npos);
    CHECK(message.find("memory-lock limit") != std::string::npos);
  }
}

TEST_CASE("an input buffer can be registered again and again, and unregistered") {
  CudaPixelHistogram<std::uint16_t> histogram(4, 4, 16, 0, 16, 8);
  std::vector<std::uint16_t> first(16 * 8, 3);
  std::vector<std::uint16_t> second(16 * 8, 5);
  histogram.register_input_buffer(first.data(), first.size() * 2);
  histogram.fill_histogram(first, 8);
  histogram.register_input_buffer(second.data(), second.size() * 2);
  histogram.fill_histogram(second, 8);
  histogram.unregister_input_buffer();
  histogram.fill_histogram(second, 8);  // pageable works too
  const auto pixel = histogram.values_pixel(3, 3);
  CHECK(pixel[3] == 8);
  CHECK(pixel[5] == 16);
}
