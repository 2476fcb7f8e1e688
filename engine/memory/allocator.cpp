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
  if (shift < kMinShift) return {0, kAlignment};
  const size_t quarter = size_t{1} << (shift - 2);
  const size_t steps = (bytes - (size_t{1} << shift) + quarter - 1) / quarter;  // 1..4
  return {4 * (shift - kMinShift) + static_cast<int>(steps), (size_t{1} << shift) + steps * quarter};
}

size_t bytes_of_class(int index) {
  if (index == 0) return kAlignment;
  const int shift = kMinShift + (index - 1) / 4;
  const size_t quarter = size_t{1} << (shift - 2);
  return (size_t{1} << shift) + static_cast<size_t>((index - 1) % 4 + 1) * quarter;
}

struct Counters {
  std::atomic<uint64_t> live{0}, peak{0}, cached{0};
};
Counters counters;

void count_live(size_t bytes) {
  const uint64_t live = counters.live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  uint64_t peak = counters.peak.load(std::memory_order_relaxed);
  while (live > peak && !counters.peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

/// The idle blocks of all threads.
struct Depot {
  std::mutex mutex;
  std::vector<void*> idle[kClasses];
};

Depot& depot() {
  static Depot* instance = new Depot;  // never destroyed: tensors may outlive static destruction
  return *instance;
}

/// A few idle blocks of the small classes that one thread keeps to itself: most tensors come and go without a lock.
class Magazine {
 public:
  static constexpr int kSmallClasses = 4 * (15 - kMinShift);  // blocks of up to 32 KB
  static constexpr int kMost = 16;                            // of each class

  /// Null once the thread's own has been destroyed: what is destroyed after it may still free tensors.
  static Magazine* of_thread() {
    if (state == State::Ended) return nullptr;
    static thread_local Magazine instance;
    return &instance;
  }

  void* take(int index) { return counts_[index] > 0 ? blocks_[index][--counts_[index]] : nullptr; }
  bool put(int index, void* block) {
    if (counts_[index] == kMost) return false;
    blocks_[index][counts_[index]++] = block;
    return true;
  }
  void empty_into(Depot& d) {
    std::lock_guard lock(d.mutex);
    for (int index = 0; index < kSmallClasses; ++index)
      while (counts_[index] > 0) d.idle[index].push_back(blocks_[index][--counts_[index]]);
  }

 private:
  enum class State : uint8_t { Alive, Ended };
  static inline thread_local State state = State::Alive;

  Magazine() = default;
  ~Magazine() {
    empty_into(depot());
    state = State::Ended;
  }

  int counts_[kSmallClasses] = {};
  void* blocks_[kSmallClasses][kMost];
};

Magazine* magazine_for(const SizeClass& cls) {
  return cls.index < Magazine::kSmallClasses ? Magazine::of_thread() : nullptr;
}

void* take_idle(const SizeClass& cls) {
  Magazine* magazine = magazine_for(cls);
  if (void* block = magazine ? magazine->take(cls.index) : nullptr) return block;
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  auto& idle = d.idle[cls.index];
  if (idle.empty()) return nullptr;
  void* block = idle.back();
  idle.pop_back();
  return block;
}

void put_idle(const SizeClass& cls, void* block) {
  Magazine* magazine = magazine_for(cls);
  if (magazine && magazine->put(cls.index, block)) return;
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  d.idle[cls.index].push_back(block);
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
    fail(ErrorKind::OutOfMemoryError,
         "Allocating {} bytes for a tensor can't succeed: no machine has that much memory. "
         "Check the sizes that were asked for.",
         bytes);
  const SizeClass cls = size_class(bytes);
  if (void* block = take_idle(cls)) {
    counters.cached.fetch_sub(cls.bytes, std::memory_order_relaxed);
    count_live(cls.bytes);
    return block;
  }
  void* block = system_allocate(cls.bytes);
  if (!block) {
    trim();
    block = system_allocate(cls.bytes);
  }
  if (!block)
    fail(ErrorKind::OutOfMemoryError,
         "Allocating {} bytes for a tensor failed: the system has no more memory "
         "({} bytes are in use by tensors). Free some tensors or use smaller ones.",
         bytes, statistics().live_bytes);
  count_live(cls.bytes);
  return block;
}

void release(void* block, size_t bytes) noexcept {
  const SizeClass cls = size_class(bytes);
  counters.live.fetch_sub(cls.bytes, std::memory_order_relaxed);
  if (counters.cached.fetch_add(cls.bytes, std::memory_order_relaxed) + cls.bytes > kCacheLimit) {
    counters.cached.fetch_sub(cls.bytes, std::memory_order_relaxed);
    std::free(block);
    return;
  }
  put_idle(cls, block);
}

void trim() noexcept {
  if (Magazine* magazine = Magazine::of_thread()) magazine->empty_into(depot());
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  for (int index = 0; index < kClasses; ++index) {
    for (void* block : d.idle[index]) {
      std::free(block);
      counters.cached.fetch_sub(bytes_of_class(index), std::memory_order_relaxed);
    }
    d.idle[index].clear();
  }
}

Statistics statistics() {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {counters.live.load(relaxed), counters.peak.load(relaxed), counters.cached.load(relaxed)};
}

void reset_peak() { counters.peak.store(counters.live.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace terra::memory
