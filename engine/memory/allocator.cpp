#include "engine/memory/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "engine/errors/errors.h"

namespace terra::memory {
namespace {

// Size classes: four per power of two, so that a block wastes at most a quarter of itself.
constexpr int kMinShift = 6;
constexpr int kClasses = 4 * (48 - kMinShift);
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kCacheLimit = size_t{1} << 32;  // beyond this much idle memory, blocks go back to the system

struct SizeClass {
  int index;
  size_t bytes;
};

SizeClass size_class(size_t bytes) {
  bytes = std::max<size_t>(bytes, kAlignment);
  const int shift = std::bit_width(bytes - 1) - 1;  // 2^shift < bytes <= 2^(shift+1), for bytes > 1
  if (shift < kMinShift) return {0, bytes <= kAlignment ? kAlignment : 2 * kAlignment};
  const size_t quarter = size_t{1} << (shift - 2);
  const size_t steps = (bytes - (size_t{1} << shift) + quarter - 1) / quarter;  // 1..4
  return {4 * (shift - kMinShift) + static_cast<int>(steps), (size_t{1} << shift) + steps * quarter};
}

struct Cache {
  std::mutex mutex;
  std::vector<void*> idle[kClasses];
  Statistics stats;
};

Cache& cache() {
  static Cache* instance = new Cache;  // never destroyed: tensors may outlive static destruction
  return *instance;
}

void* system_allocate(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* block = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (block && bytes >= kHugePage) madvise(block, rounded, MADV_HUGEPAGE);
  return block;
}

}  // namespace

void* allocate(size_t bytes) {
  if (bytes > (size_t{1} << 47))
    fail(ErrorKind::OutOfMemoryError, "Allocating {} bytes for a tensor can't succeed: no machine has that much memory. "
         "Check the sizes that were asked for.", bytes);
  const SizeClass cls = size_class(bytes);
  Cache& c = cache();
  {
    std::lock_guard lock(c.mutex);
    c.stats.live_bytes += cls.bytes;
    c.stats.peak_bytes = std::max(c.stats.peak_bytes, c.stats.live_bytes);
    if (auto& idle = c.idle[cls.index]; !idle.empty()) {
      void* block = idle.back();
      idle.pop_back();
      c.stats.cached_bytes -= cls.bytes;
      return block;
    }
  }
  void* block = system_allocate(cls.bytes);
  if (!block) {
    trim();
    block = system_allocate(cls.bytes);
  }
  if (!block) {
    std::lock_guard lock(c.mutex);
    c.stats.live_bytes -= cls.bytes;
    fail(ErrorKind::OutOfMemoryError, "Allocating {} bytes for a tensor failed: the system has no more memory "
         "({} bytes are in use by tensors). Free some tensors or use smaller ones.", bytes, c.stats.live_bytes);
  }
  return block;
}

void release(void* block, size_t bytes) noexcept {
  const SizeClass cls = size_class(bytes);
  Cache& c = cache();
  {
    std::lock_guard lock(c.mutex);
    c.stats.live_bytes -= cls.bytes;
    if (c.stats.cached_bytes + cls.bytes <= kCacheLimit) {
      c.idle[cls.index].push_back(block);
      c.stats.cached_bytes += cls.bytes;
      return;
    }
  }
  std::free(block);
}

void trim() noexcept {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  for (auto& idle : c.idle) {
    for (void* block : idle) std::free(block);
    idle.clear();
  }
  c.stats.cached_bytes = 0;
}

Statistics statistics() {
  std::lock_guard lock(cache().mutex);
  return cache().stats;
}

void reset_peak() {
  std::lock_guard lock(cache().mutex);
  cache().stats.peak_bytes = cache().stats.live_bytes;
}

}  // namespace terra::memory
