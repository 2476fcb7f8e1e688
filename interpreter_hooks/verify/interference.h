// What runs between the instructions of a frame without having been called by it.
#pragma once
#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/cpython/interruptions.h"

namespace terra::capture {

/// While it isn't zero, somebody wants handlers to be noted.
inline constinit int witnesses = 0;
/// A Python function is about to run: notes it where it looks like the handler of a signal.
void note_handler(TerraFrame* frame);
/// How many of them were noted.
long handlers_noted();

/// A moment, and whether nobody else has run since: no other thread, no handler. Collector callbacks and finalizers are
/// not told from what the program calls.
class Witness {
 public:
  bool was_alone() const { return switches_ == terra_lock_switches() && handlers_ == handlers_noted(); }

 private:
  unsigned long switches_ = terra_lock_switches();
  long handlers_ = handlers_noted();
};

}  // namespace terra::capture
