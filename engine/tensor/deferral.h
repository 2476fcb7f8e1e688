// Work on tensors that is done later, when somebody asks for what it makes.
#pragma once
#include <atomic>

namespace terra {

/// Work that has been put off: it will make the bytes of some storages, and read or write those of others. Until it is
/// done, whoever asks for any of those bytes, to read or to write them, has it done first (Storage::data).
class Deferral {
 public:
  /// Does the work, and lets go of all its storages. Throws Error where it fails, then and whenever it is asked again.
  virtual void settle() = 0;
  /// A pass over the tape begins: what the work may still change of histories has to be so.
  virtual void before_pass() { settle(); }

 protected:
  ~Deferral() = default;
};

/// Set on threads that do such work beside the host program's. What these put off is none of their business: they read
/// and write memory that has been set apart for them.
inline constinit thread_local bool beside_host = false;

/// Use the functions below.
inline constinit std::atomic<Deferral*> work_put_off = nullptr;

/// All the work that the threads of the host program have put off, or null.
inline Deferral* deferred_work() {
  Deferral* const work = work_put_off.load(std::memory_order_relaxed);
  return work && !beside_host ? work : nullptr;
}
inline void set_deferred_work(Deferral* work) { work_put_off.store(work, std::memory_order_relaxed); }

/// For those who read or write bytes without asking storages for them again.
inline void settle_deferred_work() {
  if (Deferral* work = deferred_work()) [[unlikely]]
    work->settle();
}

}  // namespace terra
