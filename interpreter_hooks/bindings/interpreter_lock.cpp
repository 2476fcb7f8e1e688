#include "interpreter_hooks/bindings/interpreter_lock.h"

namespace terra::hooks {
namespace {

/// An interpreter that ends stops being initialized at once, but the thread that ends it goes on to run finalizers and
/// clear modules, and lets go of most of what a program has made.
bool may_hold_lock() {
  if (Py_IsInitialized()) return true;
  PyThreadState* here = PyGILState_GetThisThreadState();
  return here && here == _PyThreadState_UncheckedGet();
}

}  // namespace

InterpreterLock::InterpreterLock() : held_(may_hold_lock()) {
  if (held_) state_ = PyGILState_Ensure();
}

InterpreterLock::~InterpreterLock() {
  if (held_) PyGILState_Release(state_);
}

}  // namespace terra::hooks
