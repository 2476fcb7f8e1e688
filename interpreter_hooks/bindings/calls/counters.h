// What --report counts about eager execution.
#pragma once
#include <cstdint>

namespace terra::hooks {

/// Changed by the thread that holds the interpreter's lock.
struct Counters {
  uint64_t eager_calls = 0;  ///< user-level op calls that ran at once (a composite counts one)
  uint64_t items = 0;        ///< element values read into Python
  uint64_t backwards = 0;    ///< calls of backward() and autograd.grad()
  void (*wake)() = nullptr;  ///< called by the next op call, where somebody waits for one; it takes itself away

  void count_eager_call() {
    ++eager_calls;
    if (wake) [[unlikely]]
      wake();
  }
};

inline Counters counters;

}  // namespace terra::hooks
