#include "engine/eager/host_lock.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace terra {
namespace {

/// Nanoseconds that this thread has waited for the lock and not yet kept it for in return.
thread_local int64_t waited = 0;
/// A wait of this length is somebody's who rests soon; nothing is owed for it.
constexpr int64_t kShortWait = 1'000'000;
/// How long CPython lets a thread keep the lock that others wait for.
constexpr int64_t kSwitchInterval = 5'000'000;
/// What is kept at most: the longest that others are made to wait beyond one piece of work.
constexpr int64_t kMostKept = 10'000'000;

std::atomic<int> away = 0;  ///< threads that are without the lock
std::atomic<bool> over = false;

/// What the process has still to take down is taken down after this.
void wait_for_all() {
  constexpr std::chrono::seconds kLongest{5};
  over.store(true);
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (away.load() > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace

HostLock& host_lock() {
  static HostLock lock;
  return lock;
}

bool WithoutHostLock::is_due(int64_t expected) {
  const HostLock& lock = host_lock();
  if (expected < kLongWork || !lock.drop) return false;
  if (waited >= expected) {
    waited -= expected;
    return false;
  }
  waited = 0;
  return expected >= kSwitchInterval || lock.is_shared();
}

WithoutHostLock::WithoutHostLock() {
  if (!host_lock().drop) return;
  static const int registered = [] {
    pthread_atfork(nullptr, nullptr, [] { away.store(0); });
    return std::atexit(wait_for_all);
  }();
  static_cast<void>(registered);
  switches_ = host_lock().switches();
  away.fetch_add(1);
  dropped_ = host_lock().drop();
  if (!dropped_) away.fetch_sub(1);
}

bool WithoutHostLock::take_back() {
  if (!dropped_) return true;
  const auto start = std::chrono::steady_clock::now();
  away.fetch_sub(1);
  host_lock().take(dropped_);
  dropped_ = nullptr;
  const int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  waited = took < kShortWait ? 0 : std::min(took, kMostKept);
  return host_lock().switches() == switches_;
}

bool WithoutHostLock::is_over() { return over.load(std::memory_order_relaxed); }

}  // namespace terra
