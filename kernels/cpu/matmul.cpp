// mm, bmm, addmm, linear: operands brought into a form that BLAS takes, then kernels/cpu/blas.h. Integers by loops.
#include <algorithm>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

template <class T>
using Operand = blas::Operand<T>;

/// The last two axes of a view as an operand, packed if BLAS can't take them (all matrices of a batch then).
template <class T>
Operand<T> operand_of(const View& view, Scratch& scratch) {
  const int last = view.rank - 1;
  const int64_t rows = view.sizes[last - 1], columns = view.sizes[last];
  if constexpr (std::is_integral_v<T>) return {view.as<const T>(), view.strides[last - 1], view.strides[last]};
  if (blas::is_direct(rows, columns, view.strides[last - 1], view.strides[last])) {
    return {view.as<const T>(), view.strides[last - 1], view.strides[last]};
  }
  return {scratch.contiguous<T>(view), columns, 1};
}

// ---- mm --------------------------------------------------------------------------------------------------------

void mm_in(const KernelCall& call, Scratch& scratch) {
  const View &a = call.view(0), &b = call.view(1), &out = call.out[0];
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    const Operand<T> left = operand_of<T>(a, scratch), right = operand_of<T>(b, scratch);
    if (!scratch.counting()) {
      product<T>(a.sizes[0], b.sizes[1], a.sizes[1], T{1}, left, right, T{0}, out.as<T>());
    }
  });
}

// ---- bmm -------------------------------------------------------------------------------------------------------

void bmm_in(const KernelCall& call, Scratch& scratch) {
  const View &a = call.view(0), &b = call.view(1), &out = call.out[0];
  const int64_t batch = out.sizes[0], m = out.sizes[1], n = out.sizes[2], k = a.sizes[2];
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    const Operand<T> left = operand_of<T>(a, scratch), right = operand_of<T>(b, scratch);
    if (scratch.counting()) return;
    const int64_t left_step = left.data == a.data ? a.strides[0] : m * k;
    const int64_t right_step = right.data == b.data ? b.strides[0] : k * n;
    // Few large matrices are split inside, many small ones among the threads; the pieces are the same either way.
    constexpr double kOperationsPerGrain = 2e6;
    const double operations = 2.0 * static_cast<double>(m * n) * static_cast<double>(std::max<int64_t>(k, 1));
    const int64_t grain =
        operations > 32e6 ? batch : std::max<int64_t>(1, static_cast<int64_t>(kOperationsPerGrain / (operations + 1)));
    parallel_for(batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        product<T>(m, n, k, T{1}, {left.data + i * left_step, left.row_stride, left.column_stride},
                   {right.data + i * right_step, right.row_stride, right.column_stride}, T{0}, out.as<T>() + i * m * n);
      }
    });
  });
}

// ---- addmm -----------------------------------------------------------------------------------------------------

/// Fills the m x n result with `input`, which broadcasts to it.
template <class T>
void fill_with(const View& input, int64_t m, int64_t n, T* out) {
  const auto stride = [&](int from_last) {
    const int axis = input.rank - 1 - from_last;
    return axis < 0 || input.sizes[axis] == 1 ? int64_t{0} : input.strides[axis];
  };
  const int64_t sizes[2] = {m, n}, strides[2] = {stride(1), stride(0)};
  pack(View{input.data, sizes, strides, 2, input.dtype}, out);
}

void addmm_in(const KernelCall& call, Scratch& scratch) {
  const View &a = call.view(1), &b = call.view(2), &out = call.out[0];
  const int64_t m = a.sizes[0], n = b.sizes[1], k = a.sizes[1];
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    const Operand<T> left = operand_of<T>(a, scratch), right = operand_of<T>(b, scratch);
    if (scratch.counting()) return;
    const auto number = [&](int i) {
      if constexpr (std::is_integral_v<T>)
        return static_cast<T>(call.integer(i));
      else if constexpr (std::is_floating_point_v<T>)
        return static_cast<T>(call.real(i));
      else
        return T(call.scalar(i).to_complex());
    };
    const T beta = number(3), alpha = number(4);
    if (beta != T{0}) fill_with<T>(call.view(0), m, n, out.as<T>());
    product<T>(m, n, k, alpha, left, right, beta, out.as<T>());
  });
}

// ---- linear ----------------------------------------------------------------------------------------------------

void linear_in(const KernelCall& call, Scratch& scratch) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  const int64_t n = weight.rank == 1 ? 1 : weight.sizes[0], k = weight.sizes[weight.rank - 1];
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    const auto matrix = [&](const View& view) {
      return view.rank == 2 ? operand_of<T>(view, scratch) : Operand<T>{scratch.contiguous<T>(view), k, 1};
    };
    const Operand<T> left = matrix(input), stored = matrix(weight);
    const Operand<T> right = {stored.data, stored.column_stride, stored.row_stride};
    const T* bias = nullptr;
    if (call.has(2)) {  // [n], or one number for all
      const int64_t size = n, stride = call.view(2).numel() == 1 ? 0 : call.view(2).strides[0];
      bias = scratch.contiguous<T>(View{call.view(2).data, &size, &stride, 1, out.dtype});
    }
    if (scratch.counting() || n == 0) return;
    const int64_t m = out.numel() / n;
    if constexpr (std::is_floating_point_v<T>) {
      blas::gemm_bias<T>(m, n, k, left, right, bias, out.as<T>(), n);
    } else {
      for (int64_t i = 0; bias != nullptr && i < m; ++i) std::copy_n(bias, n, out.as<T>() + i * n);
      product<T>(m, n, k, T{1}, left, right, bias != nullptr ? T{1} : T{0}, out.as<T>());
    }
  });
}

constexpr Kernel kKernels[] = {
    scratch_kernel<mm_in>("mm"),
    scratch_kernel<bmm_in>("bmm"),
    scratch_kernel<addmm_in>("addmm"),
    scratch_kernel<linear_in>("linear"),
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace terra::cpu
