// How long this thread has computed.
#pragma once
#include <algorithm>
#include <ctime>
#include <utility>

namespace terra {

inline double clock_us(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

/// Processor time of all threads of the process, in microseconds. A system call: about 0.7 us.
inline double process_time_us() { return clock_us(CLOCK_PROCESS_CPUTIME_ID); }

/// Processor time of one thread. What is measured with it means the same on a busy machine, unlike time on the wall;
/// but that clock needs no system call and takes 0.03 us. So a reading stands for a while, to which the time on the
/// wall since then is added: what is measured is wrong by at most `holds`, and only if the thread had to wait
/// meanwhile.
class ThreadClock {
 public:
  static constexpr double holds = 50;  ///< microseconds

  /// `wall` is the time on the wall now, `processor()` reads the thread's. Never less than before, but where a process
  /// was forked, whose clock begins anew.
  template <class Processor>
  double at(double wall, const Processor& processor) {
    const double since = wall - wall_;
    if (since <= holds) [[likely]]
      return last_ = time_ + since;
    wall_ = wall;
    const double before = std::exchange(read_, processor());
    return last_ = time_ = read_ < before ? read_ : std::max(last_, read_);
  }

 private:
  double wall_ = -1e18;         ///< of the last reading
  double read_ = 0;             ///< what it gave
  double time_ = 0, last_ = 0;  ///< what was told then, and last
};

inline thread_local constinit ThreadClock thread_clock;

/// Processor time of the calling thread, in microseconds.
inline double thread_time_us() {
  return thread_clock.at(clock_us(CLOCK_MONOTONIC), [] { return clock_us(CLOCK_THREAD_CPUTIME_ID); });
}

}  // namespace terra
