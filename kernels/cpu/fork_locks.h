// Locks that threads take inside kernels, and how they survive a fork of the process.
#pragma once
#include <mutex>

namespace terra::cpu {

/// Outermost first: who holds one may take those below it. No thread is inside any of them while the process forks, for
/// it wouldn't be in the child to come out again.
struct ForkLocks {
  std::mutex convolution_plans;
  std::mutex product_choice;
  std::mutex product_buffers;
};
ForkLocks& fork_locks();

}  // namespace terra::cpu
