// Work on tensors that is done later, when somebody asks for what it makes.
#pragma once

namespace terra {

/// Work that has been put off: it will make the bytes of some storages, and read those of others. Until it is done,
/// whoever asks for any of those bytes, to read or to write them, has it done first (Storage::data).
class Deferral {
 public:
  /// Does the work, and lets go of all its storages. Throws Error where it fails, then and whenever it is asked again.
  virtual void settle() = 0;

 protected:
  ~Deferral() = default;
};

/// All the work that is put off now, or null. Belongs to the thread that holds the interpreter's lock.
inline constinit Deferral* deferred_work = nullptr;

/// For those who read or write bytes without asking storages for them again.
inline void settle_deferred_work() {
  if (deferred_work) [[unlikely]]
    deferred_work->settle();
}

}  // namespace terra
