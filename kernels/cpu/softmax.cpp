// The softmax family along any dimension: rows as they lie, or gathered into a buffer where they are strided.
#include <algorithm>
#include <vector>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

/// A contiguous tensor seen as [outer, length, inner]; a row is what one softmax runs over.
struct Rows {
  int64_t outer = 1, length = 1, inner = 1;

  Rows(const View& out, int64_t dim) {
    if (out.rank == 0) return;
    if (dim < 0) dim += out.rank;
    for (int64_t i = 0; i < out.rank; ++i) (i < dim ? outer : i == dim ? length : inner) *= out.sizes[i];
  }
};

/// Calls body(out, in...) for every row, as contiguous memory; `inputs` are contiguous tensors of the output's shape.
template <class T, class Body, class... In>
void for_each_row(const Rows& rows, T* out, int64_t cost, const Body& body, const In*... inputs) {
  const int64_t grain = std::max<int64_t>(1, grain_for_cost(cost) / std::max<int64_t>(1, rows.length));
  if (rows.length == 0) return;
  if (rows.inner == 1) {
    parallel_for(rows.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) body(out + r * rows.length, (inputs + r * rows.length)...);
    });
    return;
  }
  parallel_for(rows.outer * rows.inner, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> buffer(static_cast<size_t>(rows.length) * (1 + sizeof...(In)));
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r / rows.inner * rows.length * rows.inner + r % rows.inner;
      T* next = buffer.data();
      const auto gather = [&](const T* from) {
        T* row = next += rows.length;
        for (int64_t i = 0; i < rows.length; ++i) row[i] = from[at + i * rows.inner];
        return static_cast<const T*>(row);
      };
      body(buffer.data(), gather(inputs)...);
      for (int64_t i = 0; i < rows.length; ++i) out[at + i * rows.inner] = buffer[static_cast<size_t>(i)];
    }
  });
}

enum class Function { Softmax, LogSoftmax };

template <Function function>
void forward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* in = scratch.contiguous<T>(call.view(0));
    if (scratch.counting()) return;
    const SoftmaxRows<T> loops = TERRA_ROWS(softmax_rows, SoftmaxRows, T);
    const auto row = function == Function::Softmax ? loops.softmax : loops.log_softmax;
    const Rows rows(out, call.integer(1));
    for_each_row<T>(
        rows, out.as<T>(), 4, [&](T* to, const T* from) { row(to, from, rows.length); }, in);
  });
}

template <Function function>
void backward_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    const T* grad = scratch.contiguous<T>(call.view(0));
    const T* result = scratch.contiguous<T>(call.view(1));
    if (scratch.counting()) return;
    const SoftmaxRows<T> loops = TERRA_ROWS(softmax_rows, SoftmaxRows, T);
    const auto row = function == Function::Softmax ? loops.softmax_backward : loops.log_softmax_backward;
    const Rows rows(out, call.integer(2));
    for_each_row<T>(
        rows, out.as<T>(), 4, [&](T* to, const T* g, const T* r) { row(to, g, r, rows.length); }, grad, result);
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<forward_in<Function::Softmax>>("softmax"),
    scratch_kernel<forward_in<Function::LogSoftmax>>("log_softmax"),
    scratch_kernel<backward_in<Function::Softmax>>("softmax_backward"),
    scratch_kernel<backward_in<Function::LogSoftmax>>("log_softmax_backward"),
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace terra::cpu
