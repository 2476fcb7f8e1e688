// Keeps libraries that use OpenMP on the calling thread.
#pragma once
#include <omp.h>

namespace terra::cpu {

/// While it lives, OpenMP regions started by this thread run on this thread alone; afterwards the thread's setting is
/// what it was, so that other users of OpenMP in the process keep theirs. A few nanoseconds.
class SingleThread {
 public:
  SingleThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~SingleThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_;
};

}  // namespace terra::cpu
