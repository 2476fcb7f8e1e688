// The interpreter's lock for destructors, which run on whatever thread lets go of something last.
#pragma once
#include "interpreter_hooks/bindings/object.h"

namespace terra::hooks {

/// Holds the lock of the interpreter unless that has ended, or is just being ended by another thread. Then it is false
/// and Python's objects stay as they are: the process is about to end.
class InterpreterLock {
 public:
  InterpreterLock();
  ~InterpreterLock();
  InterpreterLock(const InterpreterLock&) = delete;
  InterpreterLock& operator=(const InterpreterLock&) = delete;

  explicit operator bool() const { return held_; }

 private:
  bool held_;
  PyGILState_STATE state_{};
};

/// Lets go of references of ours, on whatever thread.
template <class... Objects>
void let_go(Objects&... objects) {
  if (const InterpreterLock lock; lock)
    ((objects = {}), ...);
  else
    (static_cast<void>(objects.release()), ...);
}

}  // namespace terra::hooks
