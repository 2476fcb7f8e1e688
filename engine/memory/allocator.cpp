#include "engine/memory/allocator.h"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "engine/errors/errors.h"
#include "engine/memory/size_class.h"
#include "engine/memory/system_block.h"
#include "engine/memory/watermark.h"

namespace terra::memory {
namespace {

constexpr int64_t kCacheLimit = int64_t{1} << 32;  // beyond this much idle memory, blocks go back to the system

struct Counters {
  /// Bytes, but for what moves in magazines: a block that one thread takes from its magazine and another frees makes
  /// these go below zero.
  std::atomic<int64_t> live{0}, peak{0}, cached{0};
  std::atomic<uint64_t> system_blocks{0};
};
Counters counters;

class Magazine;

struct IdleBlock {
  void* block;
  uint64_t since;  ///< grows with each block that becomes idle
};

/// The idle blocks of all threads.
struct Depot {
  std::mutex mutex;
  std::vector<IdleBlock> idle[kClasses];  ///< of each class, in the order in which they became idle
  uint64_t clock = 0;
  Watermark watermark;
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
      while (counts_[index] > 0) d.idle[index].push_back({blocks_[index][--counts_[index]], d.clock++});
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
  void* block = idle.back().block;
  idle.pop_back();
  return block;
}

void put_idle(const SizeClass& cls, void* block) {
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  d.idle[cls.index].push_back({block, d.clock++});
}

void give_back(void* block, int index) noexcept {
  const int64_t bytes = bytes_of_class(index);
  permit(block, static_cast<size_t>(bytes));
  system_release(block, static_cast<size_t>(bytes));
  counters.cached.fetch_sub(bytes, std::memory_order_relaxed);
}

/// The class of the block that has been idle for longest, of those that leave the process when given back; -1: none.
int longest_idle(const Depot& d) {
  int found = -1;
  for (int index = size_class(kMappedBytes).index; index < kClasses; ++index)
    if (!d.idle[index].empty() && (found < 0 || d.idle[index].front().since < d.idle[found].front().since))
      found = index;
  return found;
}

/// Gives idle blocks back until one of this class fits below the bound of what should be held.
void make_room(const SizeClass& cls) {
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  const int64_t live = counters.live.load(std::memory_order_relaxed);
  const int64_t bound = d.watermark.bound(cls, live);
  while (live + counters.cached.load(std::memory_order_relaxed) + cls.bytes > bound) {
    const int index = longest_idle(d);
    if (index < 0) return;
    give_back(d.idle[index].front().block, index);
    d.idle[index].erase(d.idle[index].begin());
    d.watermark.gave_back(index);
  }
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

/// An idle block of the class, or null. Counted.
void* take_cached(const SizeClass& cls) {
  Magazine* magazine = magazine_for(cls);
  if (void* block = magazine ? magazine->take(cls) : nullptr) return block;
  void* block = take_idle(cls);
  if (!block) return nullptr;
  counters.cached.fetch_sub(cls.bytes, std::memory_order_relaxed);
  count_live(cls.bytes);
  return block;
}

/// A block that the system lends, or null. Counted.
void* take_new(const SizeClass& cls) {
  const auto bytes = static_cast<size_t>(cls.bytes);
  make_room(cls);
  void* block = system_allocate(bytes);
  if (!block) {
    trim();
    block = system_allocate(bytes);
  }
  if (!block) return nullptr;
  counters.system_blocks.fetch_add(1, std::memory_order_relaxed);
  count_live(cls.bytes);
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
  void* block = take_cached(cls);
  if (!block) block = take_new(cls);
  if (!block)
    fail(ErrorKind::OutOfMemoryError,
         "Allocating {} bytes for a tensor failed: the system has no more memory "
         "({} bytes are in use by tensors). Free some tensors or use smaller ones.",
         bytes, statistics().live_bytes);
  permit(block, bytes);
  forbid(static_cast<char*>(block) + bytes, static_cast<size_t>(cls.bytes) - bytes);
  return block;
}

void release(void* block, size_t bytes) noexcept {
  const SizeClass cls = size_class(bytes);
  forbid(block, static_cast<size_t>(cls.bytes));
  Magazine* magazine = magazine_for(cls);
  if (magazine && magazine->put(cls, block)) return;
  counters.live.fetch_sub(cls.bytes, std::memory_order_relaxed);
  if (counters.cached.fetch_add(cls.bytes, std::memory_order_relaxed) + cls.bytes > kCacheLimit)
    give_back(block, cls.index);
  else
    put_idle(cls, block);
}

void trim() noexcept {
  if (Magazine* magazine = Magazine::of_thread()) magazine->empty_into(depot());
  Depot& d = depot();
  std::lock_guard lock(d.mutex);
  for (int index = 0; index < kClasses; ++index) {
    for (const IdleBlock& idle : d.idle[index]) give_back(idle.block, index);
    d.idle[index].clear();
  }
}

Statistics statistics() {
  constexpr auto relaxed = std::memory_order_relaxed;
  const int64_t moved = moved_in_magazines(), live = counters.live.load(relaxed) + moved;
  raise_peak(live);
  const auto bytes = [](int64_t n) { return static_cast<uint64_t>(n); };
  return {bytes(live), bytes(counters.peak.load(relaxed)), bytes(counters.cached.load(relaxed) - moved),
          counters.system_blocks.load(relaxed)};
}

void reset_peak() {
  counters.peak.store(counters.live.load(std::memory_order_relaxed) + moved_in_magazines(), std::memory_order_relaxed);
}

}  // namespace terra::memory
