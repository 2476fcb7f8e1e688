// What threads that compute for the host program have in common.
#pragma once
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>

namespace terra {

/// Signals belong to the threads of the host program: while it lives none comes to this thread, or to one that it
/// starts.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

/// While it lives this thread computes with another's settings of floating point (subnormal numbers).
class FloatingPoint {
 public:
  explicit FloatingPoint(unsigned word) : own_(_mm_getcsr()) { _mm_setcsr(word); }
  ~FloatingPoint() { _mm_setcsr(own_); }
  FloatingPoint(const FloatingPoint&) = delete;

  /// The settings of this thread.
  static unsigned word() { return _mm_getcsr(); }

 private:
  const unsigned own_;
};

/// Waits until holds() or the time is over; true iff it holds. To be tried before a thread sleeps: waking it up takes
/// longer than small work does.
template <class Holds>
bool spin_until(std::chrono::microseconds longest, Holds holds) {
  const auto give_up = std::chrono::steady_clock::now() + longest;
  do {
    for (int i = 0; i < 64; ++i) {
      if (holds()) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < give_up);
  return false;
}

}  // namespace terra
