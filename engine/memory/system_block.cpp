#include "engine/memory/system_block.h"

#include <sys/mman.h>

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

}  // namespace

void* system_allocate(size_t bytes) {
  if (bytes < kMappedBytes) return std::aligned_alloc(kAlignment, round_up(bytes, kAlignment));
  if (bytes < kHugePage) return map_aligned(round_up(bytes, kPage), kPage);
  void* block = map_aligned(round_up(bytes, kPage), kHugePage);
  // The last, incomplete one would be filled to its end by the first touch.
  if (block) madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return block;
}

void system_release(void* block, size_t bytes) noexcept {
  if (bytes < kMappedBytes)
    std::free(block);
  else
    munmap(block, round_up(bytes, kPage));
}

}  // namespace terra::memory
