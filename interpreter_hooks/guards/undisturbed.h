// Keeps code of the program out of code that works with borrowed references.
#pragma once
#include "interpreter_hooks/cpython/interruptions.h"

namespace terra::capture {

/// While it lives the garbage collector doesn't run, whatever is allocated: what it frees takes finalizers and
/// callbacks of weak references along. It runs at the next allocation after that.
class CollectorHeld {
 public:
  CollectorHeld() : collected_(PyGC_Disable()) {}
  ~CollectorHeld() {
    if (collected_) PyGC_Enable();
  }
  CollectorHeld(const CollectorHeld&) = delete;

 private:
  const int collected_;
};

/// While it lives no handler of a signal runs on this thread: not even from within repr, str or arithmetic on long
/// ints, which look for signals.
class HandlersHeld {
 public:
  HandlersHeld() : held_(terra_handlers_hold()) {}
  ~HandlersHeld() { terra_handlers_resume(held_); }
  HandlersHeld(const HandlersHeld&) = delete;

 private:
  const unsigned long held_;
};

/// Both: for calls of C functions between which and the last use of what is borrowed nothing of the program may run.
class Undisturbed {
  const HandlersHeld handlers_;
  const CollectorHeld collector_;
};

}  // namespace terra::capture
