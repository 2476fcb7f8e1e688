// The one thread pool of the process, and the only way kernels use it.
#pragma once
#include <cstdint>
#include <type_traits>

namespace terra::cpu {

/// Threads that take part in a parallel_for, the caller included. At first TERRA_THREADS, or else the processors that
/// the affinity mask and the cgroup quota allow.
int threads();
/// At least 1. Takes effect with the next parallel_for; must not be called from inside one.
void set_threads(int count);

/// A grain lasts this long. Two of them are worth forking for: waking a worker costs 17-45 us when it sleeps, under 1
/// us when it spins.
inline constexpr int64_t kGrainNanoseconds = 15'000;

/// How many elements make one grain when an element costs `quarter_ns` quarter nanoseconds (see Kernel::cost).
inline int64_t grain_for_cost(int64_t quarter_ns) {
  const int64_t n = 4 * kGrainNanoseconds / (quarter_ns > 0 ? quarter_ns : 1);
  return n > 0 ? n : 1;
}

namespace detail {
using RangeFunction = void (*)(void* context, int64_t begin, int64_t end);
void parallel_ranges(int64_t n, int64_t grain, RangeFunction function, void* context);
}  // namespace detail

/// Calls fn(begin, end) for ranges that cover [0, n) exactly once, on several threads if there are two grains or more.
///
/// Laws. Every `begin` is a multiple of `grain`, so a kernel whose blocks are its grains computes the same blocks for
/// any number of threads. Calls from inside fn, and calls while another thread is using the pool, run inline. The first
/// exception thrown by fn reaches the caller after all ranges under way have ended; the others aren't started. Workers
/// run with the caller's floating-point control word.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& fn) {
  if (n <= 0) return;
  if (n < 2 * grain) {
    fn(int64_t{0}, n);
    return;
  }
  using Function = std::remove_reference_t<F>;
  detail::parallel_ranges(
      n, grain, [](void* context, int64_t begin, int64_t end) { (*static_cast<Function*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace terra::cpu
