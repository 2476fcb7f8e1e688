// Who follows the program from one op to the next, as opposed to what the ops do (observer.h).
#pragma once
#include <span>

#include "engine/ops/op.h"

namespace terra::hooks {

/// Told of each user-level call before it runs, on the thread that makes it.
class CallWatcher {
 public:
  virtual void before_call(const Op& op, bool in_place, std::span<const Arg> args) = 0;
  /// backward() or autograd.grad().
  virtual void before_pass() = 0;

 protected:
  ~CallWatcher() = default;
};

/// Of this thread, or null. A call costs one load and a branch when nobody watches.
inline thread_local constinit CallWatcher* call_watcher = nullptr;

}  // namespace terra::hooks
