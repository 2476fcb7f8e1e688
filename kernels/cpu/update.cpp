// Optimizer updates over lists of tensors: all elements of all tensors are one range that the threads share.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

/// Calls body(tensor, begin, end) for runs of elements that cover the selected tensors once.
template <class Body>
void for_each_run(std::span<const View> tensors, DType dtype, int64_t cost, const Body& body) {
  std::vector<int64_t> ends;
  int64_t total = 0;
  for (const View& v : tensors) ends.push_back(total += v.dtype == dtype ? v.numel() : 0);
  parallel_for(total, grain_for_cost(cost), [&](int64_t begin, int64_t end) {
    size_t t = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
    while (begin < end) {
      const int64_t first = t == 0 ? 0 : ends[t - 1], stop = std::min(end, ends[t]);
      if (begin < stop) body(t, begin - first, stop - first);
      begin = std::max(begin, stop);
      ++t;
    }
  });
}

template <class T>
std::vector<const T*> contiguous_all(std::span<const View> views, DType dtype, Scratch& scratch) {
  std::vector<const T*> data;
  for (const View& v : views) data.push_back(v.dtype == dtype ? scratch.contiguous<T>(v) : nullptr);
  return data;
}

/// Parameters of one call may differ in dtype; those of each dtype are updated together.
template <class Update>
void for_each_dtype(std::span<const View> tensors, const Update& update) {
  for (const View& v : tensors) {
    if (v.dtype != DType::F32 && v.dtype != DType::F64) throw_not_implemented(v.dtype);
  }
  for (DType dtype : {DType::F32, DType::F64}) {
    const bool present = std::any_of(tensors.begin(), tensors.end(), [&](const View& v) { return v.dtype == dtype; });
    if (present) with_float(dtype, [&]<class T>(T) { update(T{}, dtype); });
  }
}

/// (params, grads, buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first) -> params, buffers
void sgd_update_in(const KernelCall& call, Scratch& scratch) {
  const auto params = call.views(0), grads = call.views(1), buffers = call.views(2);
  const SgdRule rule = {call.real(3), call.real(4), call.real(5), call.real(6),
                        call.flag(7), call.flag(8), call.flag(9)};
  const bool has_buffers = !buffers.empty() && rule.momentum != 0;
  for_each_dtype(params, [&]<class T>(T, DType dtype) {
    const auto p = contiguous_all<T>(params, dtype, scratch), g = contiguous_all<T>(grads, dtype, scratch);
    const auto b = contiguous_all<T>(buffers, dtype, scratch);
    if (scratch.counting()) return;
    const UpdateLoops<T> loops = TERRA_ROWS(update_loops, UpdateLoops, T);
    for_each_run(params, dtype, 3, [&](size_t t, int64_t begin, int64_t end) {
      if (!buffers.empty() && !has_buffers) {  // without momentum they stay as they are
        T* to = call.out[params.size() + t].as<T>();
        if (to != b[t]) std::copy(b[t] + begin, b[t] + end, to + begin);
      }
      loops.sgd(rule, call.out[t].as<T>() + begin, has_buffers ? call.out[params.size() + t].as<T>() + begin : nullptr,
                p[t] + begin, g[t] + begin, has_buffers ? b[t] + begin : nullptr, end - begin);
    });
  });
}

/// (params, grads, exp_avgs, exp_avg_sqs, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize) -> params,
/// exp_avgs, exp_avg_sqs
void adam_update_in(const KernelCall& call, Scratch& scratch) {
  const auto params = call.views(0), grads = call.views(1), means = call.views(2), squares = call.views(3);
  const double step = call.real(4), lr = call.real(5), beta1 = call.real(6), beta2 = call.real(7);
  const double weight_decay = call.real(9);
  const bool decoupled = call.flag(10);
  const AdamRule rule = {lr / (1 - std::pow(beta1, step)),
                         std::sqrt(1 - std::pow(beta2, step)),
                         beta1,
                         beta2,
                         call.real(8),
                         decoupled ? 1 - lr * weight_decay : weight_decay,
                         decoupled,
                         call.flag(11)};
  const size_t n = params.size();
  for_each_dtype(params, [&]<class T>(T, DType dtype) {
    const auto p = contiguous_all<T>(params, dtype, scratch), g = contiguous_all<T>(grads, dtype, scratch);
    const auto m = contiguous_all<T>(means, dtype, scratch), s = contiguous_all<T>(squares, dtype, scratch);
    if (scratch.counting()) return;
    const UpdateLoops<T> loops = TERRA_ROWS(update_loops, UpdateLoops, T);
    for_each_run(params, dtype, 6, [&](size_t t, int64_t begin, int64_t end) {
      loops.adam(rule, call.out[t].as<T>() + begin, call.out[n + t].as<T>() + begin,
                 call.out[2 * n + t].as<T>() + begin, p[t] + begin, g[t] + begin, m[t] + begin, s[t] + begin,
                 end - begin);
    });
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<sgd_update_in>("sgd_update"),
    scratch_kernel<adam_update_in>("adam_update"),
};

}  // namespace

std::span<const Kernel> update_kernels() { return kKernels; }

}  // namespace terra::cpu
