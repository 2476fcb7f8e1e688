#include "engine/memory/allocator.h"

#include <pthread.h>
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
constexpr int64_t kCacheLimit = int64_t{1} << 32;  // beyond this much idle memory, blocks go back to the system

struct SizeClass {
  int index;
  int64_t bytes;
};

SizeClass size_class(size_t bytes) {
  bytes = std::max<size_t>(bytes, kAlignment);
  const int shift = std::bit_width(bytes - 1) - 1;  // 2^shift < bytes <= 2^(shift+1), for bytes > 1
  if (shift < kMinShift) return {0, kAlignment};
  const size_t quarter = size_t{1} << (shift - 2);
  const size_t steps = (bytes - (size_t{1} << shift) + quarter - 1) / quarter;  // 1..4
  return {4 * (shift - kMinShift) + static_cast<int>(steps),
          static_cast<int64_t>((size_t{1} << shift) + steps * quarter)};
}

size_t bytes_of_class(int index) {
  if (index == 0) return kAlignment;
  const int shift = kMinShift + (index - 1) / 4;
  const size_t quarter = size_t{1} << (shift - 2);
  return (size_t{1} << shift) + static_cast<size_t>((index - 1) % 4 + 1) * quarter;
}

struct Counters {
  /// Bytes, but for what moves in magazines: a block that one thread takes from its magazine and another frees makes
  /// these go below zero.
  std::atomic<int64_t> live{0}, peak{0}, cached{0};
};
Counters counters;

class Magazine;

/// The idle blocks of all threads.
struct Depot {
  std::mutex mutex;
  std::vector<void*> idle[kClasses];
  std::vector<Magazine*> magazines;  ///< of the threads that live
};

/// Never destroyed, for tensors may outlive static destruction. Nobody is inside it when the process forks: a thread of
/// the parent that isn't in the child would keep the lock there for ever.
Depot& depot() {
  static Depot* const instance = [] {
    auto* made = new Depot;
    static Depot* const forked = made;
    const auto leave = [] { forked->mutex.unlock(); };
    pthread_atfork([] { forked->mutex.lock(); }, leave, leave);
    return made;
  }();
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

  void* take(const SizeClass& cls) {
    if (counts_[cls.index] == 0) return nullptr;
    count(cls.bytes);
    return blocks_[cls.index][--counts_[cls.index]];
  }
  bool put(const SizeClass& cls, void* block) {
    if (counts_[cls.index] == kMost) return false;
    count(-cls.bytes);
    blocks_[cls.index][counts_[cls.index]++] = block;
    return true;
  }
  void empty_into(Depot& d) {
    std::lock_guard lock(d.mutex);
    for (int index = 0; index < kSmallClasses; ++index)
      while (counts_[index] > 0) d.idle[index].push_back(blocks_[index][--counts_[index]]);
  }
  /// Bytes that have gone from idle to live here (or back, if negative). Written by its thread alone: no lock, no
  /// fence.
  int64_t moved() const { return moved_.load(std::memory_order_relaxed); }

 private:
  enum class State : uint8_t { Alive, Ended };
  static inline thread_local State state = State::Alive;

  Magazine() {
    std::lock_guard lock(depot().mutex);
    depot().magazines.push_back(this);
  }
  ~Magazine() {
    empty_into(depot());
    std::lock_guard lock(depot().mutex);
    std::erase(depot().magazines, this);
    counters.live.fetch_add(moved(), std::memory_order_relaxed);
    counters.cached.fetch_sub(moved(), std::memory_order_relaxed);
    state = State::Ended;
  }
  void count(int64_t bytes) { moved_.store(moved() + bytes, std::memory_order_relaxed); }

  std::atomic<int64_t> moved_{0};
  int counts_[kSmallClasses] = {};
  void* blocks_[kSmallClasses][kMost];
};

Magazine* magazine_for(const SizeClass& cls) {
  return cls.index < Magazine::kSmallClasses ? Magazine::of_thread() : nullptr;
}

void* take_idle(const SizeClass& cls) {
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  auto& idle = d.idle[cls.index];
  if (idle.empty()) return nullptr;
  void* block = idle.back();
  idle.pop_back();
  return block;
}

void put_idle(const SizeClass& cls, void* block) {
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  d.idle[cls.index].push_back(block);
}

/// What has moved in the magazines of all threads.
int64_t moved_in_magazines() {
  std::lock_guard lock(depot().mutex);
  int64_t sum = 0;
  for (const Magazine* magazine : depot().magazines) sum += magazine->moved();
  return sum;
}

void raise_peak(int64_t live) {
  int64_t peak = counters.peak.load(std::memory_order_relaxed);
  while (live > peak && !counters.peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

/// The peak takes no notice of blocks that other threads have taken from their magazines.
void count_live(int64_t bytes) {
  const int64_t live = counters.live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  const Magazine* magazine = Magazine::of_thread();
  raise_peak(live + (magazine ? magazine->moved() : 0));
}

void* system_allocate(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* block = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  // The last, incomplete one would be filled to its end by the first touch.
  if (block && bytes >= kHugePage) madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
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
  Magazine* magazine = magazine_for(cls);
  if (void* block = magazine ? magazine->take(cls) : nullptr) return block;
  if (void* block = take_idle(cls)) {
    counters.cached.fetch_sub(cls.bytes, std::memory_order_relaxed);
    count_live(cls.bytes);
    return block;
  }
  void* block = system_allocate(static_cast<size_t>(cls.bytes));
  if (!block) {
    trim();
    block = system_allocate(static_cast<size_t>(cls.bytes));
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
  Magazine* magazine = magazine_for(cls);
  if (magazine && magazine->put(cls, block)) return;
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
      counters.cached.fetch_sub(static_cast<int64_t>(bytes_of_class(index)), std::memory_order_relaxed);
    }
    d.idle[index].clear();
  }
}

Statistics statistics() {
  constexpr auto relaxed = std::memory_order_relaxed;
  const int64_t moved = moved_in_magazines(), live = counters.live.load(relaxed) + moved;
  raise_peak(live);
  const auto bytes = [](int64_t n) { return static_cast<uint64_t>(n); };
  return {bytes(live), bytes(counters.peak.load(relaxed)), bytes(counters.cached.load(relaxed) - moved)};
}

void reset_peak() {
  counters.peak.store(counters.live.load(std::memory_order_relaxed) + moved_in_magazines(), std::memory_order_relaxed);
}

}  // namespace terra::memory
