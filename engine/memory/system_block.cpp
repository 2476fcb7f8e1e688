#include "engine/memory/system_block.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "engine/memory/allocator.h"

namespace terra::memory {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// A mapping at a multiple of `alignment`: more is mapped, and what lies before and behind goes back.
void* map_aligned(size_t bytes, size_t alignment) {
  const size_t more = bytes + alignment - kPage;
  void* mapped = mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const from = static_cast<char*>(mapped);
  const size_t before = (alignment - reinterpret_cast<uintptr_t>(from) % alignment) % alignment;
  if (before) munmap(from, before);
  if (const size_t behind = more - before - bytes) munmap(from + before + bytes, behind);
  return from + before;
}

/// What is mapped for a block, which begins somewhere in its first page.
size_t mapped_bytes(size_t bytes) { return round_up(bytes, kPage) + kPage; }

/// Where in its first page the next block begins: at another place than the last ones. A processor takes a load for one
/// that waits for a store before it when their addresses differ by whole pages alone: were all blocks to begin with a
/// page, torch.roll(x, 1), whose every element goes just ahead of where it was, would take ten times as long.
size_t next_offset() {
  constexpr size_t kStep = 5 * 256;
  static std::atomic<size_t> count = 0;
  return count.fetch_add(1, std::memory_order_relaxed) * kStep % kPage;
}

}  // namespace

void* system_allocate(size_t bytes) {
  if (bytes < kMappedBytes) return std::aligned_alloc(kAlignment, round_up(bytes, kAlignment));
  const bool huge = bytes >= kHugePage;
  char* const mapped = static_cast<char*>(map_aligned(mapped_bytes(bytes), huge ? kHugePage : kPage));
  if (mapped == nullptr) return nullptr;
  // The last, incomplete one would be filled to its end by the first touch.
  if (huge) madvise(mapped, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return mapped + next_offset();
}

void system_release(void* block, size_t bytes) noexcept {
  if (bytes < kMappedBytes)
    std::free(block);
  else
    munmap(static_cast<char*>(block) - reinterpret_cast<uintptr_t>(block) % kPage, mapped_bytes(bytes));
}

}  // namespace terra::memory
