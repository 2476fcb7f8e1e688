// mm, bmm, addmm, linear: operands brought into a form that BLAS takes, then kernels/cpu/blas.h. Integers by loops;
// bfloat16 as it is where kernels/cpu/bfloat16_product.h has instructions for it, else in f32.
#include <algorithm>
#include <optional>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/half.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/bfloat16_product.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/small_product.h"

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

// ---- bfloat16 --------------------------------------------------------------------------------------------------

/// A view of room for the elements of another in f32, row by row.
class InF32 {
 public:
  InF32(const View& view, Scratch& scratch) {
    int64_t step = 1;
    for (int d = view.rank; d-- > 0; step *= view.sizes[d]) strides_[d] = step;
    view_ = {scratch.take<float>(view.numel()), view.sizes, strides_, view.rank, DType::F32};
  }
  InF32(const InF32&) = delete;
  const View& view() const { return view_; }

 private:
  int64_t strides_[kMaxViewRank];
  View view_;
};

/// The body on operands that are converted to f32; its result is rounded.
template <void (*body)(const KernelCall&, Scratch&)>
void in_f32(const KernelCall& call, Scratch& scratch) {
  constexpr size_t kMostArgs = 8;
  std::optional<InF32> operands[kMostArgs];
  KernelArg args[kMostArgs];
  for (size_t i = 0; i < call.args.size(); ++i) {
    args[i] = call.args[i];
    if (args[i].kind != KernelArg::Kind::Tensor) continue;
    args[i].views = &operands[i].emplace(call.view(static_cast<int>(i)), scratch).view();
    if (!scratch.counting()) convert_elements(*args[i].views, call.view(static_cast<int>(i)));
  }
  const InF32 result(call.out[0], scratch);
  body({{&result.view(), 1}, {args, call.args.size()}, call.workspace, call.queue}, scratch);
  if (!scratch.counting()) convert_elements(call.out[0], result.view());
}

/// The body, or for bfloat16 numbers `narrow` where it is worth it. The last axis of operand `kLeft` is summed over.
template <void (*body)(const KernelCall&, Scratch&), void (*narrow)(const KernelCall&, Scratch&), int kLeft>
void of_dtype(const KernelCall& call, Scratch& scratch) {
  if (call.out[0].dtype != DType::BF16) return body(call, scratch);
  const View& left = call.view(kLeft);
  const int64_t k = left.sizes[left.rank - 1];
  bfloat16::multiplies(call.out[0].numel() * k) ? narrow(call, scratch) : in_f32<body>(call, scratch);
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

void narrow_mm_in(const KernelCall& call, Scratch& scratch) {
  const View &a = call.view(0), &b = call.view(1);
  const auto left = operand_of<BFloat16>(a, scratch), right = operand_of<BFloat16>(b, scratch);
  if (scratch.counting()) return;
  bfloat16::product(a.sizes[0], b.sizes[1], a.sizes[1], left, right, nullptr, call.out[0].as<BFloat16>());
}

// ---- bmm -------------------------------------------------------------------------------------------------------

/// Calls multiply(m, n, k, left, right, result) for the matrices of a batch, if they aren't so small that BLAS takes
/// longer to call.
template <class T>
void each_product(const KernelCall& call, Scratch& scratch, const auto& multiply) {
  const View &a = call.view(0), &b = call.view(1), &out = call.out[0];
  const int64_t batch = out.sizes[0], m = out.sizes[1], n = out.sizes[2], k = a.sizes[2];
  const Operand<T> left = operand_of<T>(a, scratch), right = operand_of<T>(b, scratch);
  if (scratch.counting()) return;
  const int64_t left_step = left.data == a.data ? a.strides[0] : m * k;
  const int64_t right_step = right.data == b.data ? b.strides[0] : k * n;
  const auto left_of = [&](int64_t i) {
    return Operand<T>{left.data + i * left_step, left.row_stride, left.column_stride};
  };
  const auto right_of = [&](int64_t i) {
    return Operand<T>{right.data + i * right_step, right.row_stride, right.column_stride};
  };
  // Few large matrices are split inside, many small ones among the threads; the pieces are the same either way.
  constexpr double kOperationsPerGrain = 2e6;
  const double operations = 2.0 * static_cast<double>(m * n) * static_cast<double>(std::max<int64_t>(k, 1));
  const int64_t grain =
      operations > 32e6 ? batch : std::max<int64_t>(1, static_cast<int64_t>(kOperationsPerGrain / (operations + 1)));
  if constexpr (std::is_floating_point_v<T>) {
    if (const SmallProduct<T> small(m, n, k, left, right); small.pays()) {
      return parallel_for(batch, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) small(left_of(i), right_of(i), out.as<T>() + i * m * n);
      });
    }
  }
  parallel_for(batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) multiply(m, n, k, left_of(i), right_of(i), out.as<T>() + i * m * n);
  });
}

void bmm_in(const KernelCall& call, Scratch& scratch) {
  with_real_or_complex(call.out[0].dtype, [&]<class T>(T) {
    each_product<T>(call, scratch, [](int64_t m, int64_t n, int64_t k, Operand<T> left, Operand<T> right, T* out) {
      product<T>(m, n, k, T{1}, left, right, T{0}, out);
    });
  });
}

void narrow_bmm_in(const KernelCall& call, Scratch& scratch) {
  using T = BFloat16;
  each_product<T>(call, scratch, [](int64_t m, int64_t n, int64_t k, Operand<T> left, Operand<T> right, T* out) {
    bfloat16::product(m, n, k, left, right, nullptr, out);
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

/// The product in f32, so that it is rounded once, after the rest.
void narrow_addmm_in(const KernelCall& call, Scratch& scratch) {
  const View &a = call.view(1), &b = call.view(2);
  const auto left = operand_of<BFloat16>(a, scratch), right = operand_of<BFloat16>(b, scratch);
  const int64_t m = a.sizes[0], n = b.sizes[1];
  float* const sums = scratch.take<float>(m * n);
  if (scratch.counting()) return;
  bfloat16::product(m, n, a.sizes[1], left, right, nullptr, sums);
  const auto beta = static_cast<float>(call.real(3)), alpha = static_cast<float>(call.real(4));
  BFloat16* const out = call.out[0].as<BFloat16>();
  if (beta != 0) fill_with<BFloat16>(call.view(0), m, n, out);
  parallel_for(m * n, grain_for_cost(2), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = BFloat16((beta != 0 ? beta * static_cast<float>(out[i]) : 0) + alpha * sums[i]);
    }
  });
}

// ---- linear ----------------------------------------------------------------------------------------------------

/// Calls multiply(m, n, k, left, right, bias, result) for the rows of the input and the columns of the weight.
template <class T>
void with_rows(const KernelCall& call, Scratch& scratch, const auto& multiply) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  const int64_t n = weight.rank == 1 ? 1 : weight.sizes[0], k = weight.sizes[weight.rank - 1];
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
  multiply(out.numel() / n, n, k, left, right, bias, out.as<T>());
}

void linear_in(const KernelCall& call, Scratch& scratch) {
  with_real_or_complex(call.out[0].dtype, [&]<class T>(T) {
    const auto multiply = [](int64_t m, int64_t n, int64_t k, Operand<T> left, Operand<T> right, const T* bias,
                             T* out) {
      if constexpr (std::is_floating_point_v<T>) {
        blas::gemm_bias<T>(m, n, k, left, right, bias, out, n);
      } else {
        for (int64_t i = 0; bias != nullptr && i < m; ++i) std::copy_n(bias, n, out + i * n);
        product<T>(m, n, k, T{1}, left, right, bias != nullptr ? T{1} : T{0}, out);
      }
    };
    with_rows<T>(call, scratch, multiply);
  });
}

void narrow_linear_in(const KernelCall& call, Scratch& scratch) {
  with_rows<BFloat16>(call, scratch, bfloat16::product<BFloat16>);
}

constexpr Kernel kKernels[] = {
    scratch_kernel<of_dtype<mm_in, narrow_mm_in, 0>>("mm"),
    scratch_kernel<of_dtype<bmm_in, narrow_bmm_in, 0>>("bmm"),
    scratch_kernel<of_dtype<addmm_in, narrow_addmm_in, 1>>("addmm"),
    scratch_kernel<of_dtype<linear_in, narrow_linear_in, 0>>("linear"),
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace terra::cpu
