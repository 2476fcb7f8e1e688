#include "kernels/cpu/fork_locks.h"

#include <pthread.h>

namespace terra::cpu {

namespace {

ForkLocks locks;

void enter_all() {
  locks.convolution_plans.lock();
  locks.product_choice.lock();
  locks.product_buffers.lock();
}

void leave_all() {
  locks.product_buffers.unlock();
  locks.product_choice.unlock();
  locks.convolution_plans.unlock();
}

}  // namespace

ForkLocks& fork_locks() {
  static const int registered = pthread_atfork(enter_all, leave_all, leave_all);
  static_cast<void>(registered);
  return locks;
}

}  // namespace terra::cpu
