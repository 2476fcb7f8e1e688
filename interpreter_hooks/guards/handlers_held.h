// Keeps handlers of signals out of code that works with borrowed references.
#pragma once
#include "interpreter_hooks/cpython/interruptions.h"

namespace terra::capture {

/// While it lives no handler of the program runs on this thread: not even from within repr, str or arithmetic on long
/// ints, which look for signals. A handler could free what registers and shadows borrow.
class HandlersHeld {
 public:
  HandlersHeld() : held_(terra_handlers_hold()) {}
  ~HandlersHeld() { terra_handlers_resume(held_); }
  HandlersHeld(const HandlersHeld&) = delete;

 private:
  const unsigned long held_;
};

}  // namespace terra::capture
