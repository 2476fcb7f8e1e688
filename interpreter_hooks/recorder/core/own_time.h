// How long a recording itself takes: what it adds to the run of the frame that it watches.
#pragma once
#include "interpreter_hooks/guards/undisturbed.h"

#include <chrono>

namespace terra::capture {

/// Adds the time until the end of the scope to `sum` (milliseconds), unless a scope around it does so already. Handlers
/// of signals wait for the end of the scope.
class OwnTime {
 public:
  explicit OwnTime(double& sum) : sum_(sum), outermost_(!inside) {
    if (!outermost_) return;
    inside = true;
    begin_ = std::chrono::steady_clock::now();
  }
  ~OwnTime() {
    if (!outermost_) return;
    inside = false;
    sum_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  }
  OwnTime(const OwnTime&) = delete;

  /// Whether the recorder's own code is running on this thread, perhaps below Python code that it has called.
  static bool is_running() { return inside; }

 private:
  static inline thread_local bool inside = false;
  const HandlersHeld handlers_;
  double& sum_;
  bool outermost_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace terra::capture
