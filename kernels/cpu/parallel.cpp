// A fork-join pool: one job at a time, shared out in ranges; workers spin for a bounded time, then sleep on a futex.
//
// Own code because Eigen's NonBlockingThreadPool is a task queue (an allocation and a possible wake-up per task, no
// join), while kernels only ever need one loop split: a job is a few words that live in the pool.
#include "kernels/abi/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "kernels/abi/worker_thread.h"
#include "kernels/cpu/processors.h"

namespace terra::cpu {

namespace {

/// Ranges per thread: enough that a thread which loses its processor leaves little work stranded.
constexpr int64_t kRangesPerThread = 4;
/// How long a worker without work, or a caller waiting for workers, spins before it sleeps.
constexpr std::chrono::microseconds kSpin{30};

thread_local bool inside_job = false;

class Pool {
 public:
  static constexpr int kMaxWorkers = 255;

  /// `older` is retired and stays allocated, since another thread may be about to try it.
  Pool(int workers, Pool* older) : wanted_(workers), older_(older) {
    if (older_) older_->retire();
    const NoSignals none;
    try {
      for (; started_ < wanted_; ++started_) threads_[started_] = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that started do the work.
    }
  }

  /// Workers asked for.
  int wanted() const { return wanted_; }

  /// False if another thread's job is under way: then nothing was done.
  bool try_run(int64_t n, int64_t grain, detail::RangeFunction function, void* context) {
    std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock) return false;
    const int64_t grains = (n + grain - 1) / grain;
    const int64_t wanted = kRangesPerThread * (started_ + 1);
    n_ = n;
    range_ = (grains + wanted - 1) / wanted * grain;
    function_ = function;
    context_ = context;
    control_word_ = FloatingPoint::word();
    error_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    members_.store(kOpen);
    announce();
    take_ranges();
    leave_closed();
    if (error_) std::rethrow_exception(error_);
    return true;
  }

 private:
  /// members_ = number of workers inside the job, plus kOpen while more may enter.
  static constexpr uint32_t kOpen = 1u << 31;

  /// Ends the workers; jobs that still come are done by their callers.
  void retire() {
    std::lock_guard lock(busy_);
    stopping_.store(true);
    announce();
    for (int i = 0; i < started_; ++i) threads_[i].join();
    started_ = 0;
  }

  void announce() {
    epoch_.fetch_add(1);
    if (sleepers_.load() > 0) epoch_.notify_all();
  }

  void work() {
    inside_job = true;
    uint32_t seen = 0;
    for (;;) {
      if (!spin_until(kSpin, [&] { return epoch_.load(std::memory_order_acquire) != seen; })) {
        sleepers_.fetch_add(1);
        epoch_.wait(seen);
        sleepers_.fetch_sub(1);
      }
      seen = epoch_.load();
      if (stopping_.load()) return;
      if (!enter()) continue;
      {
        const FloatingPoint as_in_caller(control_word_);
        take_ranges();
      }
      if (members_.fetch_sub(1) == 1) members_.notify_one();
    }
  }

  /// A worker that comes late finds the job closed and touches nothing of it.
  bool enter() {
    uint32_t members = members_.load();
    while (members & kOpen) {
      if (members_.compare_exchange_weak(members, members + 1)) return true;
    }
    return false;
  }

  void take_ranges() {
    const bool before = inside_job;
    inside_job = true;
    for (;;) {
      const int64_t begin = next_.fetch_add(range_, std::memory_order_relaxed);
      if (begin >= n_ || failed_.load(std::memory_order_relaxed)) break;
      try {
        function_(context_, begin, std::min(begin + range_, n_));
      } catch (...) {
        if (!failed_.exchange(true)) error_ = std::current_exception();
      }
    }
    inside_job = before;
  }

  /// Nobody enters any more; waits for those inside.
  void leave_closed() {
    uint32_t members = members_.fetch_and(~kOpen) & ~kOpen;
    if (members == 0) return;
    if (spin_until(kSpin, [&] { return members_.load(std::memory_order_acquire) == 0; })) return;
    while ((members = members_.load()) != 0) members_.wait(members);
  }

  const int wanted_;
  Pool* const older_;
  int started_ = 0;
  std::thread threads_[kMaxWorkers];
  std::mutex busy_;  // held by the caller for the length of its job

  int64_t n_ = 0, range_ = 0;
  detail::RangeFunction function_ = nullptr;
  void* context_ = nullptr;
  unsigned control_word_ = 0;
  std::exception_ptr error_;  // written by the one thread that set failed_

  alignas(64) std::atomic<int64_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  alignas(64) std::atomic<uint32_t> members_ = 0;
  alignas(64) std::atomic<uint32_t> epoch_ = 0;
  std::atomic<uint32_t> sleepers_ = 0;
  std::atomic<bool> stopping_ = false;
};

int clamp_threads(int count) { return std::clamp(count, 1, Pool::kMaxWorkers + 1); }

int initial_threads() {
  if (const char* text = std::getenv("TERRA_THREADS")) {
    const int count = std::atoi(text);
    if (count > 0) return clamp_threads(count);
  }
  return clamp_threads(usable_processors());
}

std::atomic<int> wanted_threads = 0;  // 0: not asked yet
/// Made at the first fork that needs it, never destroyed at exit: its threads may still be asleep then. A child of
/// fork() has no workers and forgets the parent's pool, whose lock somebody may have held.
std::atomic<Pool*> pool = nullptr;
std::atomic_flag making_pool;

void forget_pool_in_child() {
  pool.store(nullptr);
  making_pool.clear();
  inside_job = false;
}

Pool* current_pool() {
  Pool* current = pool.load(std::memory_order_acquire);
  const int workers = threads() - 1;
  if (current && current->wanted() == workers) return current;
  if (making_pool.test_and_set()) return nullptr;
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
  static_cast<void>(registered);
  current = pool.load();
  if (!current || current->wanted() != workers) current = new Pool(workers, current);
  pool.store(current, std::memory_order_release);
  making_pool.clear();
  return current;
}

}  // namespace

int threads() {
  int count = wanted_threads.load(std::memory_order_relaxed);
  if (count == 0) wanted_threads.store(count = initial_threads(), std::memory_order_relaxed);
  return count;
}

void set_threads(int count) { wanted_threads.store(clamp_threads(count)); }

namespace detail {

void parallel_ranges(int64_t n, int64_t grain, RangeFunction function, void* context) {
  if (!inside_job && threads() > 1) {
    Pool* shared = current_pool();
    if (shared && shared->try_run(n, grain, function, context)) return;
  }
  function(context, 0, n);
}

}  // namespace detail

}  // namespace terra::cpu
