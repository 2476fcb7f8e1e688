// Where the largest or smallest element is: argmax, argmin, max_with_index, min_with_index.
//
// The first of equals wins, a NaN wins over all numbers.
#include <memory>

#include "kernels/cpu/along.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/dtype_dispatch.h"
#include "kernels/cpu/families.h"

namespace terra::cpu {

namespace {

template <class F>
void with_number_or_bool(DType dtype, F&& fn) {
  if (dtype == DType::Bool) return fn(bool{});
  with_number(dtype, fn);
}

template <bool kMax, class T>
bool beats(T x, T best) {
  return (kMax ? best < x : x < best) || (x != x && best == best);
}

/// Candidates that are kept side by side while a contiguous line is searched for its best value.
constexpr int kCandidates = 16;

/// The best value of a contiguous line that is long enough for a vector of candidates.
template <bool kMax, class T>
T best_of(const T* x, int64_t n) {
  T best[kCandidates];
  for (int k = 0; k < kCandidates; ++k) best[k] = x[k];
  int64_t i = kCandidates;
  for (; i + kCandidates <= n; i += kCandidates) {
    for (int k = 0; k < kCandidates; ++k) {
      const T y = x[i + k];
      best[k] = (kMax ? best[k] < y : y < best[k]) || y != y ? y : best[k];
    }
  }
  for (; i < n; ++i) best[0] = beats<kMax>(x[i], best[0]) ? x[i] : best[0];
  for (int k = 1; k < kCandidates; ++k) best[0] = beats<kMax>(best[k], best[0]) ? best[k] : best[0];
  return best[0];
}

template <bool kMax, class T>
int64_t index_of_best(const char* line, int64_t stride, int64_t n) {
  if (stride == sizeof(T) && n >= 4 * kCandidates) {
    const T* x = reinterpret_cast<const T*>(line);
    const T best = best_of<kMax>(x, n);
    int64_t i = 0;
    while (!(x[i] == best || (x[i] != x[i] && best != best))) ++i;
    return i;
  }
  int64_t index = 0;
  T best = *reinterpret_cast<const T*>(line);
  for (int64_t i = 1; i < n; ++i) {
    const T x = *reinterpret_cast<const T*>(line + i * stride);
    if (beats<kMax>(x, best)) {
      best = x;
      index = i;
    }
  }
  return index;
}

/// A view of a contiguous result as if the reduced dimension were still there with size 1 (and stride 0).
SubView& with_dim(SubView& v, const View& in, int dim) {
  int64_t step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    v.resize(d, d == dim ? 1 : in.sizes[d]).set_stride(d, d == dim ? 0 : step);
    if (d != dim) step *= in.sizes[d];
  }
  return v;
}

/// `values` may be absent.
template <bool kMax>
void search(const View& in, int dim, const View& values, const View& indices) {
  const View index_shape{indices.data, in.sizes, in.strides, in.rank, DType::I64};
  const View value_shape{values.defined() ? values.data : indices.data, in.sizes, in.strides, in.rank, in.dtype};
  SubView index_lines(index_shape), value_lines(value_shape);
  const View operands[] = {in, with_dim(index_lines, in, dim).view(), with_dim(value_lines, in, dim).view()};
  Lines lines;
  lines_along(operands, dim, lines);
  with_number_or_bool(in.dtype, [&]<class T>(T) {
    for_lines(lines, 4, [&](char* const* at) {
      const int64_t index = index_of_best<kMax, T>(at[0], lines.strides[0], lines.lengths[0]);
      *reinterpret_cast<int64_t*>(at[1]) = index;
      if (values.defined()) {
        *reinterpret_cast<T*>(at[2]) = *reinterpret_cast<const T*>(at[0] + index * lines.strides[0]);
      }
    });
  });
}

/// max_with_index(self, dim, keepdim) -> (values, indices).
template <bool kMax>
void with_index(const KernelCall& call) {
  const View& in = call.view(0);
  search<kMax>(in, wrapped(call.integer(1), in.rank), call.out[0], call.out[1]);
}

/// argmax(self, dim or None, keepdim): without a dimension, the place in row-major order.
template <bool kMax>
void arg(const KernelCall& call) {
  const View& in = call.view(0);
  if (call.has(1)) return search<kMax>(in, wrapped(call.integer(1), in.rank), View{}, call.out[0]);
  const int64_t n = in.numel(), one = 1;
  if (in.is_contiguous()) return search<kMax>(View{in.data, &n, &one, 1, in.dtype}, 0, View{}, call.out[0]);
  const auto bytes = std::make_unique<char[]>(static_cast<size_t>(n) * size_of(in.dtype));
  SubView packed(in);
  for (int64_t d = in.rank - 1, step = 1; d >= 0; --d) {
    packed.set_stride(static_cast<int>(d), step);
    step *= in.sizes[d];
  }
  const View copy = packed.view();
  copy_elements(View{bytes.get(), copy.sizes, copy.strides, copy.rank, in.dtype}, in);
  search<kMax>(View{bytes.get(), &n, &one, 1, in.dtype}, 0, View{}, call.out[0]);
}

constexpr Kernel kKernels[] = {
    {.op = "argmax", .run = arg<true>},
    {.op = "argmin", .run = arg<false>},
    {.op = "max_with_index", .run = with_index<true>},
    {.op = "min_with_index", .run = with_index<false>},
};

}  // namespace

std::span<const Kernel> arg_reduction_kernels() { return kKernels; }

}  // namespace terra::cpu
