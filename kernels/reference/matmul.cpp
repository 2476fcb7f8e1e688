// Matrix products: sums of products, accumulated in f64 (pairs of them) or, of integers, modulo 2^64.
#include <type_traits>

#include "kernels/abi/half.h"
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T> || std::is_same_v<T, BFloat16>;

template <class T>
using Sum =
    std::conditional_t<kIsReal<T>, double, std::conditional_t<std::is_integral_v<T>, uint64_t, std::complex<double>>>;

template <class T>
Sum<T> widened(T x) {
  if constexpr (std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else
    return static_cast<Sum<T>>(x);
}

/// with_real_or_complex and bfloat16.
template <class F>
void with_factor(DType dtype, F&& fn) {
  if (dtype == DType::BF16) return fn(BFloat16{});
  with_real_or_complex(dtype, fn);
}

/// Row i of `a` times column j of `b`, in matrix `batch` if they are batched.
template <class T>
Sum<T> dot(const View& a, const View& b, int64_t batch, int64_t i, int64_t j) {
  const int64_t k = a.sizes[a.rank - 1];
  Sum<T> sum = 0;
  for (int64_t p = 0; p < k; ++p) {
    const T x = a.rank == 3 ? at<T>(a, {batch, i, p}) : at<T>(a, {i, p});
    const T y = b.rank == 3 ? at<T>(b, {batch, p, j}) : at<T>(b, {p, j});
    sum += widened(x) * widened(y);
  }
  return sum;
}

void mm(const KernelCall& call) {
  const View &a = call.view(0), &b = call.view(1), &out = call.out[0];
  with_factor(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.sizes[0]; ++i) {
      for (int64_t j = 0; j < out.sizes[1]; ++j) at<T>(out, {i, j}) = static_cast<T>(dot<T>(a, b, 0, i, j));
    }
  });
}

void bmm(const KernelCall& call) {
  const View &a = call.view(0), &b = call.view(1), &out = call.out[0];
  with_factor(out.dtype, [&]<class T>(T) {
    for (int64_t batch = 0; batch < out.sizes[0]; ++batch) {
      for (int64_t i = 0; i < out.sizes[1]; ++i) {
        for (int64_t j = 0; j < out.sizes[2]; ++j) {
          at<T>(out, {batch, i, j}) = static_cast<T>(dot<T>(a, b, batch, i, j));
        }
      }
    }
  });
}

/// beta * input + alpha * mat1 mat2; input broadcasts to the result, and isn't read if beta is 0.
void addmm(const KernelCall& call) {
  const View &input = call.view(0), &a = call.view(1), &b = call.view(2), &out = call.out[0];
  with_factor(out.dtype, [&]<class T>(T) {
    using S = Sum<T>;
    S beta, alpha;
    if constexpr (!std::is_integral_v<T> && !kIsReal<T>) {
      beta = call.scalar(3).to_complex();
      alpha = call.scalar(4).to_complex();
    } else if constexpr (kIsReal<T>) {
      beta = call.real(3);
      alpha = call.real(4);
    } else {
      beta = static_cast<S>(call.integer(3));
      alpha = static_cast<S>(call.integer(4));
    }
    for (int64_t i = 0; i < out.sizes[0]; ++i) {
      for (int64_t j = 0; j < out.sizes[1]; ++j) {
        S sum = alpha * dot<T>(a, b, 0, i, j);
        if (beta != S{0}) {
          int64_t offset = 0;
          const int64_t index[2] = {i, j};
          for (int axis = 0; axis < input.rank; ++axis) {
            if (input.sizes[axis] != 1) offset += index[2 - input.rank + axis] * input.strides[axis];
          }
          sum += beta * widened(input.as<T>()[offset]);
        }
        at<T>(out, {i, j}) = static_cast<T>(sum);
      }
    }
  });
}

/// input [..., k] times the transpose of weight [n, k], plus bias [n] or one number.
void linear(const KernelCall& call) {
  const View &input = call.view(0), &weight = call.view(1), &out = call.out[0];
  const int64_t n = weight.rank == 1 ? 1 : weight.sizes[0], k = weight.sizes[weight.rank - 1];
  with_factor(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) {
      Sum<T> sum = call.has(2) ? widened(nth<T>(call.view(2), i % n % call.view(2).numel())) : Sum<T>{0};
      for (int64_t p = 0; p < k; ++p) {
        sum += widened(nth<T>(input, i / n * k + p)) * widened(nth<T>(weight, i % n * k + p));
      }
      nth<T>(out, i) = static_cast<T>(sum);
    }
  });
}

constexpr Kernel kKernels[] = {
    {.op = "mm", .run = mm},
    {.op = "bmm", .run = bmm},
    {.op = "addmm", .run = addmm},
    {.op = "linear", .run = linear},
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace terra::reference
