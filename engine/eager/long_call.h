// Calls of single ops that take so long that other threads of the program go on meanwhile.
#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "engine/eager/host_lock.h"
#include "engine/ops/op.h"

namespace terra::eager {

/// While it lives, ops called by this thread may give the host's lock away: its maker holds their arguments by
/// references that no other thread can drop. Only ops that make new tensors do; an in-place op writes what others see,
/// which they are to see before or after it.
class LettingGo {
 public:
  LettingGo();
  ~LettingGo();
  LettingGo(const LettingGo&) = delete;

 private:
  const bool outer_;
};

/// What the kernels of this thread have taken so far, in microseconds: of calls that are large enough to be timed.
inline thread_local constinit double kernel_time_us = 0;

/// One kernel call. How long it will take is judged by the last call of the op, in proportion to the elements. Kernels
/// that rely on values that they, or others, have checked keep the lock.
class LongCall {
 public:
  /// `fresh`: nobody else knows of `outs`.
  LongCall(const Op& op, bool fresh, std::span<const Arg> args, std::span<const View> outs);

  /// The tensor as it is now. Other threads may give it other sizes or memory meanwhile.
  View view(const TensorImpl& tensor) { return released_ ? held_view(tensor) : tensor.view(); }

  /// While it lives the kernel runs.
  class Running {
   public:
    explicit Running(LongCall& call);
    ~Running();
    Running(const Running&) = delete;

   private:
    LongCall& call_;
    std::optional<WithoutHostLock> others_;
    std::chrono::steady_clock::time_point start_;
  };

 private:
  struct Held {
    Ref<Storage> storage;
    Dims sizes, strides;
  };
  View held_view(const TensorImpl& tensor);

  double* pace_ = nullptr;  ///< nanoseconds per element of the op's calls; null: the call is too small to be timed
  int64_t elements_ = 0;
  bool released_ = false;
  std::vector<Held> held_;  ///< has room for all: views point into it
};

}  // namespace terra::eager
