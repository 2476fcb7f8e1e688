// Kernels that make tensors from numbers: arange, linspace, eye.
#include <algorithm>
#include <cmath>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"

namespace terra::cpu {

namespace {

/// out[i + k] = value(i, k), in parallel: k is small, so that vectors of it become floats.
template <class T, class Value>
void generate(const View& out, Value value) {
  constexpr int64_t kBlock = 256;
  T* const to = out.as<T>();
  parallel_for(out.numel(), grain_for_cost(4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kBlock) {
      const auto count = static_cast<int32_t>(std::min(kBlock, end - i));
      for (int32_t k = 0; k < count; ++k) to[i + k] = static_cast<T>(value(i, k));
    }
  });
}

/// arange(start, end, step): floats are computed in double and rounded once.
void arange(const KernelCall& call) {
  with_number(call.out[0].dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const double start = call.real(0), step = call.real(2);
      generate<T>(call.out[0], [=](int64_t i, int32_t k) { return start + step * (static_cast<double>(i) + k); });
    } else {
      const int64_t start = call.integer(0), step = call.integer(2);
      generate<T>(call.out[0], [=](int64_t i, int32_t k) { return start + step * (i + k); });
    }
  });
}

/// linspace(start, end, steps): from both ends towards the middle, so that both ends are exact. Ends of integers are
/// integers. Rounded once, as PyTorch's compilers make it.
void linspace(const KernelCall& call) {
  const int64_t steps = call.out[0].numel();
  with_number(call.out[0].dtype, [&]<class T>(T) {
    using Real = std::conditional_t<std::is_same_v<T, float>, float, double>;
    const Real start = static_cast<Real>(static_cast<T>(call.real(0))),
               end = static_cast<Real>(static_cast<T>(call.real(1)));
    const Real step = steps > 1 ? (end - start) / static_cast<Real>(steps - 1) : Real(0);
    generate<T>(call.out[0], [=](int64_t first, int32_t k) {
      const int64_t i = first + k;
      return i < steps / 2 ? std::fma(step, static_cast<Real>(i), start)
             : steps == 1  ? start
                           : std::fma(-step, static_cast<Real>(steps - 1 - i), end);
    });
  });
}

void eye(const KernelCall& call) {
  const View& out = call.out[0];
  fill_elements(out, Scalar(0));
  const int64_t n = out.sizes[0] < out.sizes[1] ? out.sizes[0] : out.sizes[1];
  const int64_t stride = out.strides[0] + out.strides[1];
  fill_elements(View{out.data, &n, &stride, 1, out.dtype}, Scalar(1));
}

constexpr Kernel kKernels[] = {
    {.op = "arange", .run = arange}, {.op = "linspace", .run = linspace}, {.op = "eye", .run = eye}};

}  // namespace

std::span<const Kernel> creation_kernels() { return kKernels; }

}  // namespace terra::cpu
