#include "core/memory/host_memory.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <thread>
#include <utility>
#include <vector>

using namespace pixhist;

namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t resident_pages(const HostBlock& block) {
  std::vector<unsigned char> pages((block.size() + page_bytes() - 1) / page_bytes());
  REQUIRE(mincore(block.data(), block.size(), pages.data()) == 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; }));
}

}  // namespace

TEST_CASE("a block is zeroed, page-aligned, writable and exactly as large as asked") {
  MemoryAccount account;
  PageableMemory memory(account);
  for (const Paging paging : {Paging::on_demand, Paging::populate})
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4095}, std::size_t{4097}, std::size_t{1} << 20}) {
      CAPTURE(bytes);
      const HostBlock block = memory.allocate(bytes, paging);
      REQUIRE(block.size() == bytes);
      CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % page_bytes() == 0);
      CHECK(std::all_of(block.bytes().begin(), block.bytes().end(),
                        [](std::byte b) { return b == std::byte{0}; }));
      std::fill(block.bytes().begin(), block.bytes().end(), std::byte{0xA5});
      CHECK(block.bytes().back() == std::byte{0xA5});
    }
}

TEST_CASE("populated memory is resident before its first use, on-demand memory is not") {
  MemoryAccount account;
  PageableMemory memory(account);
  const std::size_t pages = 64;
  CHECK(resident_pages(memory.allocate(pages * page_bytes(), Paging::populate)) == pages);
  CHECK(resident_pages(memory.allocate(pages * page_bytes(), Paging::on_demand)) < pages);
}

TEST_CASE("the account holds what is held now, by kind") {
  MemoryAccount account;
  PageableMemory memory(account);
  CHECK(memory.kind() == MemoryKind::host);
  {
    const HostBlock a = memory.allocate(1000, Paging::on_demand);
    CHECK(account.bytes(MemoryKind::host) == 1000);
    {
      const HostBlock b = memory.allocate(50000, Paging::on_demand);
      CHECK(account.bytes(MemoryKind::host) == 51000);
    }
    CHECK(account.bytes(MemoryKind::host) == 1000);
  }
  CHECK(account.bytes(MemoryKind::host) == 0);
  account.add(MemoryKind::device, 7);
  account.add(MemoryKind::pinned, 5);
  account.remove(MemoryKind::pinned, 2);
  CHECK(account.bytes(MemoryKind::host) == 0);
  CHECK(account.bytes(MemoryKind::pinned) == 3);
  CHECK(account.bytes(MemoryKind::device) == 7);
}

TEST_CASE("nothing is allocated for zero bytes") {
  MemoryAccount account;
  PageableMemory memory(account);
  const HostBlock block = memory.allocate(0, Paging::populate);
  CHECK(block.size() == 0);
  CHECK(account.bytes(MemoryKind::host) == 0);
}

TEST_CASE("more than the address space is bad_alloc and leaves the account alone") {
  MemoryAccount account;
  PageableMemory memory(account);
  CHECK_THROWS_AS(memory.allocate(std::numeric_limits<std::size_t>::max() / 2, Paging::on_demand),
                  std::bad_alloc);
  CHECK(account.bytes(MemoryKind::host) == 0);
}

TEST_CASE("a moved block changes its owner and stays where it is") {
  MemoryAccount account;
  PageableMemory memory(account);
  HostBlock a = memory.allocate(100, Paging::on_demand);
  std::byte* const place = a.data();
  place[99] = std::byte{3};

  HostBlock b = std::move(a);
  CHECK(a.size() == 0);
  CHECK(b.data() == place);
  CHECK(b.bytes()[99] == std::byte{3});
  CHECK(account.bytes(MemoryKind::host) == 100);

  HostBlock c = memory.allocate(2000, Paging::on_demand);
  CHECK(account.bytes(MemoryKind::host) == 2100);
  c = std::move(b);
  CHECK(account.bytes(MemoryKind::host) == 100);
  CHECK(b.size() == 0);
  CHECK(c.data() == place);

  HostBlock& same = c;
  c = std::move(same);
  CHECK(c.data() == place);
  c = HostBlock{};
  CHECK(account.bytes(MemoryKind::host) == 0);
}

TEST_CASE("a block seen as another type holds whole elements only") {
  MemoryAccount account;
  PageableMemory memory(account);
  const HostBlock block = memory.allocate(22, Paging::on_demand);
  const auto words = block.as<std::uint32_t>();
  REQUIRE(words.size() == 5);
  words[1] = 0xFFFFFFFF;
  CHECK(block.bytes()[3] == std::byte{0});
  CHECK(block.bytes()[4] == std::byte{0xFF});
  CHECK(block.bytes()[8] == std::byte{0});
}

TEST_CASE("blocks come and go on several threads and the account ends at zero") {
  MemoryAccount account;
  PageableMemory memory(account);
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t <= 4; ++t)
    threads.emplace_back([&memory, t] {
      for (std::size_t i = 1; i <= 200; ++i)
        memory.allocate(t * i, Paging::on_demand).data()[0] = std::byte{1};
    });
  for (auto& thread : threads) thread.join();
  CHECK(account.bytes(MemoryKind::host) == 0);
}
