// Inner loops over rows and planes that exist once per instruction set, and the way to reach the active ones.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// Rows of n contiguous elements. Outputs may be the inputs.
template <class T>
struct SoftmaxRows {
  void (*softmax)(T* out, const T* in, int64_t n);
  void (*log_softmax)(T* out, const T* in, int64_t n);
  void (*softmax_backward)(T* out, const T* grad, const T* result, int64_t n);
  void (*log_softmax_backward)(T* out, const T* grad, const T* result, int64_t n);
  /// The same of `count` columns, side by side in rows that are `stride` elements apart.
  void (*softmax_columns)(T* out, const T* in, int64_t n, int64_t stride, int64_t count);
  void (*log_softmax_columns)(T* out, const T* in, int64_t n, int64_t stride, int64_t count);
  void (*softmax_backward_columns)(T* out, const T* grad, const T* result, int64_t n, int64_t stride, int64_t count);
  void (*log_softmax_backward_columns)(T* out, const T* grad, const T* result, int64_t n, int64_t stride,
                                       int64_t count);
  /// log_softmax_backward of a gradient that is `grad` at one place and 0 elsewhere.
  void (*cross_entropy_backward)(T* out, T grad, int64_t place, const T* result, int64_t n);
};

/// Sums over contiguous runs are taken in vectors and returned in f64, so that long chains of runs lose nothing.
template <class T>
struct NormRows {
  double (*sum)(const T* x, int64_t n);
  double (*sum_of_squares)(const T* x, double center, int64_t n);  ///< of x - center
  /// Adds to sums[0] the sum of grad, to sums[1] that of grad * (x - center).
  void (*sums_with_gradient)(const T* grad, const T* x, double center, int64_t n, double* sums);
  void (*scale_shift)(T* out, const T* x, T scale, T shift, int64_t n);                       ///< x * scale + shift
  void (*combine)(T* out, const T* a, T scale_a, const T* b, T scale_b, T shift, int64_t n);  ///< a, b scaled, + shift
  /// Normalizes one row; weight and bias may be null.
  void (*layer_norm)(T* out, const T* x, const T* weight, const T* bias, T eps, int64_t n, T* mean, T* rstd);
  /// Gradient of one row; adds to weight_grad and bias_grad (n each).
  void (*layer_norm_backward)(T* out, const T* grad, const T* x, T mean, T rstd, const T* weight, int64_t n,
                              T* weight_grad, T* bias_grad);
};

struct SgdRule {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize, first;
};

struct AdamRule {
  double step_size;           ///< lr / (1 - beta1^step)
  double root_of_correction;  ///< sqrt(1 - beta2^step)
  double beta1, beta2, eps;
  double decay;  ///< decoupled: the factor 1 - lr * weight_decay of the parameter; else what of it joins the gradient
  bool decoupled, maximize;
};

/// n contiguous elements; outputs may be the inputs. Without momentum, buffers are null.
template <class T>
struct UpdateLoops {
  void (*sgd)(const SgdRule& rule, T* out, T* buffer_out, const T* param, const T* grad, const T* buffer, int64_t n);
  void (*adam)(const AdamRule& rule, T* out, T* mean_out, T* square_out, const T* param, const T* grad, const T* mean,
               const T* square, int64_t n);
};

/// One plane of max pooling: out and indices [oh, ow] from in [ih, iw].
struct PoolShape {
  int64_t ih, iw, oh, ow;
  int64_t kernel[2], stride[2], padding[2], dilation[2];
};

template <class T>
struct PoolPlanes {
  void (*max)(const PoolShape& shape, T* out, int64_t* indices, const T* in);
};

TERRA_PER_ISA(SoftmaxRows<float> softmax_rows(float); SoftmaxRows<double> softmax_rows(double);
              NormRows<float> norm_rows(float); NormRows<double> norm_rows(double);
              UpdateLoops<float> update_loops(float); UpdateLoops<double> update_loops(double);
              PoolPlanes<float> pool_planes(float); PoolPlanes<double> pool_planes(double);)

/// The loops of type `Table<T>` at the active instruction set: TERRA_ROWS(softmax_rows, SoftmaxRows, float).
#define TERRA_ROWS(function, Table, T)                                                        \
  ::terra::cpu::by_isa<Table<T>(T)>(&::terra::cpu::v2::function, &::terra::cpu::v3::function, \
                                    &::terra::cpu::v4::function)(T{})

}  // namespace terra::cpu
