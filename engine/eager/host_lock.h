// The lock under which the threads of the host program take turns, and how long work lets the others have it.
#pragma once
#include <cstdint>
#include <utility>

namespace terra {

/// What an embedding interpreter supplies. Without it nobody shares anything and nothing is given away.
struct HostLock {
  /// Gives the lock away; null where the calling thread doesn't hold it.
  void* (*drop)() = nullptr;
  /// Waits for it, with what `drop` returned. Where the host is ending it may never return.
  void (*take)(void* dropped) = nullptr;
  /// Whether there are other threads at all. To be called by the lock's holder.
  bool (*is_shared)() = nullptr;
  /// Grows whenever another thread takes the lock than the one that had it last. To be called by its holder.
  unsigned long (*switches)() = nullptr;
};
HostLock& host_lock();

/// Work from this length on lets other threads go on. Giving the lock away and taking it back costs a tenth of a
/// microsecond where nobody wants it.
inline constexpr int64_t kLongWork = 50'000;  // nanoseconds

/// While it lives other threads of the program may run; whatever the scope reads has to be held by other means.
class WithoutHostLock {
 public:
  /// Whether work that is expected to take so many nanoseconds is to be done without the lock. To be asked once for
  /// each piece of work.
  ///
  /// A thread that never rests keeps the lock for the host's whole switch interval (5 ms) each time it gets it, so that
  /// giving it away for 100 us would cost fifty times that. A thread that had to wait to get it back therefore keeps it
  /// during later work, as long as it had waited: then both sides get about half of the time, as they do by the host's
  /// own rules. Nothing is given away either where there is nobody to take it; a thread that comes meanwhile waits no
  /// longer than it may have to for any code of the host.
  static bool is_due(int64_t expected);

  WithoutHostLock();
  ~WithoutHostLock() { take_back(); }
  WithoutHostLock(const WithoutHostLock&) = delete;

  /// Ends it early. True iff nobody else had the lock in between.
  bool take_back();

  /// The process is ending, and waits for a moment for those who are without the lock: the libraries that they compute
  /// with are about to be taken down. They should come to an end; none of them gets the lock again.
  static bool is_over();

 private:
  void* dropped_ = nullptr;
  unsigned long switches_ = 0;
};

/// While it lives, waits of this thread for work that others do for it may give the lock away: its maker holds what it
/// is going to read, and has looked at nothing yet that other threads may change.
class WaitingWithoutHostLock {
 public:
  WaitingWithoutHostLock() : outer_(std::exchange(allowed_, true)) {}
  ~WaitingWithoutHostLock() { allowed_ = outer_; }
  WaitingWithoutHostLock(const WaitingWithoutHostLock&) = delete;

  static bool is_allowed() { return allowed_; }

 private:
  static inline thread_local constinit bool allowed_ = false;
  const bool outer_;
};

}  // namespace terra
