// The softmax family along any dimension: rows one after the other, or side by side where they are strided.
#include <algorithm>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

/// Columns that one thread takes at least: threads don't share lines of the cache.
constexpr int64_t kLine = 64;

/// A contiguous tensor seen as [outer, length, inner]; a row is what one softmax runs over.
struct Rows {
  int64_t outer = 1, length = 1, inner = 1;

  Rows(const View& out, int64_t dim) {
    if (out.rank == 0) return;
    if (dim < 0) dim += out.rank;
    for (int64_t i = 0; i < out.rank; ++i) (i < dim ? outer : i == dim ? length : inner) *= out.sizes[i];
  }
};

/// Calls behind(at, length, count) for rows of contiguous elements behind each other, the first of which begins at
/// element `at`; where they are strided, columns(at, length, stride, count) for rows side by side.
template <class Behind, class Columns>
void for_each_row(const Rows& rows, int64_t cost, const Behind& behind, const Columns& columns) {
  const int64_t grain = std::max<int64_t>(1, grain_for_cost(cost) / std::max<int64_t>(1, rows.length));
  if (rows.length == 0) return;
  if (rows.inner == 1) {
    parallel_for(rows.outer, grain,
                 [&](int64_t begin, int64_t end) { behind(begin * rows.length, rows.length, end - begin); });
    return;
  }
  parallel_for(rows.outer * rows.inner, std::max<int64_t>(grain, kLine), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end;) {
      const int64_t column = r % rows.inner, count = std::min(end - r, rows.inner - column);
      columns(r / rows.inner * rows.length * rows.inner + column, rows.length, rows.inner, count);
      r += count;
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
    constexpr bool plain = function == Function::Softmax;
    const auto columns = plain ? loops.softmax_columns : loops.log_softmax_columns;
    T* const to = out.as<T>();
    for_each_row(
        Rows(out, call.integer(1)), 4,
        [&](int64_t at, int64_t n, int64_t count) {
          if constexpr (plain)
            for (const int64_t end = at + n * count; at < end; at += n) loops.softmax(to + at, in + at, n);
          else
            loops.log_softmax(to + at, in + at, n, count);
        },
        [&](int64_t at, int64_t n, int64_t stride, int64_t count) { columns(to + at, in + at, n, stride, count); });
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
    constexpr bool plain = function == Function::Softmax;
    const auto row = plain ? loops.softmax_backward : loops.log_softmax_backward;
    const auto columns = plain ? loops.softmax_backward_columns : loops.log_softmax_backward_columns;
    T* const to = out.as<T>();
    for_each_row(
        Rows(out, call.integer(2)), 4,
        [&](int64_t at, int64_t n, int64_t count) {
          for (const int64_t end = at + n * count; at < end; at += n) row(to + at, grad + at, result + at, n);
        },
        [&](int64_t at, int64_t n, int64_t stride, int64_t count) {
          columns(to + at, grad + at, result + at, n, stride, count);
        });
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
