// How long the program's own part of a call takes.
#pragma once
#include "engine/eager/thread_time.h"
#include "interpreter_hooks/frame_hook/ledger.h"

namespace terra::capture {

/// Measures processor time of the thread from its making on, without what capture has worked meanwhile.
class Stopwatch {
 public:
  /// In microseconds.
  double elapsed() const { return thread_time_us() - began_ - (ledger().worked() - worked_); }

 private:
  const double worked_ = ledger().worked(), began_ = thread_time_us();
};

}  // namespace terra::capture
