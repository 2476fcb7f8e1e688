#include "engine/memory/allocator.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <set>
#include <thread>
#include <vector>

#include "engine/errors/errors.h"
#include "engine/memory/size_class.h"
#include "engine/memory/watermark.h"

using namespace terra;

TEST_CASE("blocks are aligned, big enough and reused") {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{127}, size_t{129}, size_t{1000},
                       size_t{4096}, size_t{5000}, size_t{1} << 20, (size_t{3} << 20) + 1}) {
    void* block = memory::allocate(bytes);
    CHECK(reinterpret_cast<uintptr_t>(block) % memory::kAlignment == 0);
    std::memset(block, 1, bytes);
    memory::release(block, bytes);
    void* again = memory::allocate(bytes);
    CHECK(again == block);
    memory::release(again, bytes);
  }
}

TEST_CASE("live and peak bytes are counted") {
  const auto before = memory::statistics().live_bytes;
  memory::reset_peak();
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(memory::allocate(1 << 16));
  CHECK(memory::statistics().live_bytes == before + 10 * (1 << 16));
  for (void* b : blocks) memory::release(b, 1 << 16);
  CHECK(memory::statistics().live_bytes == before);
  CHECK(memory::statistics().peak_bytes == before + 10 * (1 << 16));
}

TEST_CASE("what a thread leaves behind serves the others") {
  constexpr size_t kBytes = 3000;
  memory::trim();
  std::set<void*> left;
  std::thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 40; ++i) blocks.push_back(memory::allocate(kBytes));
    for (void* b : blocks) {
      memory::release(b, kBytes);
      left.insert(b);
    }
  }).join();
  const uint64_t live = memory::statistics().live_bytes, cached = memory::statistics().cached_bytes;
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) {
    blocks.push_back(memory::allocate(kBytes));
    CHECK(left.count(blocks.back()) == 1);
  }
  CHECK(memory::statistics().live_bytes - live == cached - memory::statistics().cached_bytes);
  for (void* b : blocks) memory::release(b, kBytes);
  memory::trim();
  CHECK(memory::statistics().cached_bytes == 0);
}

TEST_CASE("threads hand blocks to each other while somebody trims") {
  constexpr int kRounds = 300, kThreads = 4;
  std::vector<std::atomic<unsigned char*>> shelves(16);
  std::atomic<int> torn = 0;
  const auto work = [&](unsigned seed) {
    for (int round = 0; round < kRounds; ++round) {
      auto& shelf = shelves[(seed * 7 + static_cast<unsigned>(round) * 5) % shelves.size()];
      const size_t bytes = 1000 * (1 + (&shelf - shelves.data()));  // of small classes and of big ones
      auto* block = static_cast<unsigned char*>(memory::allocate(bytes));
      std::memset(block, static_cast<int>(seed), bytes);
      unsigned char* other = shelf.exchange(block);
      if (!other) continue;
      if (other[0] != other[bytes - 1]) ++torn;
      memory::release(other, bytes);
      if (round % 50 == 0) memory::trim();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  for (auto& shelf : shelves)
    if (unsigned char* block = shelf.load()) memory::release(block, 1000 * (1 + (&shelf - shelves.data())));
  CHECK(torn == 0);
  memory::trim();
  CHECK(memory::statistics().cached_bytes == 0);
}

namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

uint64_t held() {
  const memory::Statistics now = memory::statistics();
  return now.live_bytes + now.cached_bytes;
}

/// One after another, never two at once.
void use(std::initializer_list<size_t> megabytes) {
  for (const size_t each : megabytes) {
    void* block = memory::allocate(each * kMegabyte);
    static_cast<char*>(block)[0] = 1;
    memory::release(block, each * kMegabyte);
  }
}

}  // namespace

TEST_CASE("idle blocks go back before more is held than was ever in use") {
  memory::trim();
  const uint64_t before = held();
  use({100, 120, 140, 160});  // a phase that keeps them all would hold 520
  CHECK(held() - before <= 160 * kMegabyte + memory::Watermark::kSlack);
  memory::trim();
}

TEST_CASE("a loop that wants its blocks again stops giving them back") {
  memory::trim();
  const auto system_calls_of_a_round = [] {
    const uint64_t before = memory::statistics().system_blocks;
    use({200, 240, 280, 320});
    return memory::statistics().system_blocks - before;
  };
  uint64_t last = 4;
  for (int round = 0; round < 4 * memory::Watermark::kRegrets; ++round) last = system_calls_of_a_round();
  CHECK(last == 0);
  memory::trim();
}

TEST_CASE("the bound of what is held follows what was in use, and regrets") {
  memory::Watermark watermark;
  const memory::SizeClass big = memory::size_class(64 * kMegabyte), small = memory::size_class(8 * kMegabyte);
  const int64_t slack = memory::Watermark::kSlack;
  CHECK(watermark.bound(big, 100) == 100 + big.bytes + slack);
  CHECK(watermark.bound(small, 0) == 100 + big.bytes + slack);  // what was in use at the worst time counts
  watermark.gave_back(big.index);
  const int64_t paid = big.bytes / memory::Watermark::kRegrets;
  CHECK(watermark.bound(small, 0) == 100 + big.bytes + slack);
  CHECK(watermark.bound(big, 0) == 100 + big.bytes + slack + paid);
  CHECK(watermark.bound(big, 0) == 100 + big.bytes + slack + paid);  // only one was given back
}

TEST_CASE("size classes hold what is asked for and waste at most a quarter") {
  for (size_t bytes = 1; bytes < (size_t{1} << 40); bytes = bytes * 9 / 8 + 1) {
    const memory::SizeClass cls = memory::size_class(bytes);
    CHECK(cls.bytes >= static_cast<int64_t>(bytes));
    CHECK(cls.bytes <= static_cast<int64_t>(std::max<size_t>(memory::kAlignment, bytes + bytes / 4 + 16)));
    CHECK(memory::bytes_of_class(cls.index) == cls.bytes);
    CHECK(memory::size_class(static_cast<size_t>(cls.bytes)).index == cls.index);
  }
}

TEST_CASE("an absurd size is an error that names it") {
  try {
    memory::allocate(size_t{1} << 60);
    FAIL("allocation of an exabyte succeeded");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::OutOfMemoryError);
    CHECK(std::string(e.what()).find("1152921504606846976 bytes") != std::string::npos);
  }
}
