// Inner loops over rows and planes that exist once per instruction set, and the way to reach the active ones.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// Rows of n contiguous elements. Outputs may be the inputs.
template <class T>
struct SoftmaxRows {
  void (*softmax)(T* out, const T* in, int64_t n);
  void (*log_softmax)(T* out, const T* in, int64_t n, int64_t rows);  ///< of rows behind each other
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
  double (*dot)(const T* a, const T* b, int64_t n);
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

/// A window of an image: rows y0, y0 + y_step, .. below y1 and columns likewise, in rows of `width` pixels. `first` is
/// the place of its first pixel, -1 where it has none.
struct PixelWindow {
  int64_t y0, y1, y_step, x0, x1, x_step, width, first;
};

/// Rows (pixels of images, or examples) whose n channels lie together. Sums are taken in T over short runs of rows, and
/// of those in f64.
template <class T>
struct ChannelRows {
  void (*sums)(const T* x, int64_t rows, int64_t n, double* sums);                               ///< adds to sums[n]
  void (*sums_of_squares)(const T* x, const T* centers, int64_t rows, int64_t n, double* sums);  ///< of x - center
  /// Adds to sums[0 .. n) the sums of grad, behind them those of grad * (x - center).
  void (*sums_with_gradient)(const T* grad, const T* x, const T* centers, int64_t rows, int64_t n, double* sums);
  void (*scale_shift)(T* out, const T* x, const T* scale, const T* shift, int64_t rows, int64_t n);
  void (*combine)(T* out, const T* a, const T* scale_a, const T* b, const T* scale_b, const T* shift, int64_t rows,
                  int64_t n);
  /// The largest of a window and its place, as PoolPlanes finds them.
  void (*largest)(const PixelWindow& window, const T* image, int64_t n, T* out, int64_t* indices);
  void (*mean)(const PixelWindow& window, const T* image, int64_t n, T* out, T divisor);
  /// Adds grad / divisor to all pixels of a window.
  void (*spread)(const PixelWindow& window, const T* grad, int64_t n, T* image, T divisor);
};

/// What the elements of a line are sums of: element o of `size` is the sum over t of `taps` of weight[t * size + o]
/// times the element index[t * size + o].
template <class T>
struct Taps {
  const int64_t* index;
  const T* weight;
  int64_t taps, size;
};

/// Lines of rows of `inner` elements each.
template <class T>
struct ResampleLines {
  void (*sums)(const Taps<T>& taps, const T* in, int64_t inner, int64_t begin, int64_t end, T* out);  ///< [begin, end)
  /// The transpose: adds to `elements` the sums times the weights.
  void (*add_to)(const Taps<T>& taps, const T* sums, int64_t inner, T* elements);
};

/// How images are read at places in [-1, 1], which a grid has for each of two or three dimensions.
struct GridRule {
  enum class Mode : uint8_t { Linear, Nearest, Cubic };
  enum class Padding : uint8_t { Zeros, Border, Reflection };
  static constexpr int kMostAxes = 3;

  Mode mode;
  Padding padding;
  bool corners;  ///< -1 and 1 are the centers of the outermost pixels, not their outer edges
  int axes;
  int64_t sizes[kMostAxes], steps[kMostAxes];  ///< of images, and how far apart pixels lie
  int64_t orders[kMostAxes];                   ///< of the derivative of weights
};

/// Planes of pixels, sampled at `places` places: place p reads pixel index[t * places + p] with its weight.
template <class T>
struct SampleLoops {
  /// Taps of n places of a contiguous grid; tap t of place i at [t * stride + i].
  void (*grid_taps)(const GridRule& rule, const T* grid, int64_t n, int64_t* index, T* weight, int64_t stride);
  /// The sums of `count` places of `planes` planes, from the one at which the pointers to taps and `out` stand.
  void (*sums)(const Taps<T>& taps, int64_t count, const T* pixels, int64_t size, int64_t planes, T* out);
  /// The gradient of their weights.
  void (*weights)(const Taps<T>& taps, int64_t count, const T* grad, const T* pixels, int64_t size, int64_t planes,
                  T* out);
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

/// Where rows of n contiguous elements, `stride` bytes apart, have their largest or smallest: the first of equals, a
/// NaN before all numbers. n is at least 1 and fits 31 bits; places go to[0], to[1] .. as int64 in `to_stride` bytes.
template <class T>
struct ExtremeRows {
  using Places = void (*)(const char* x, int64_t stride, int64_t rows, int64_t n, char* to, int64_t to_stride);
  Places largest, smallest;
};

/// n contiguous numbers, integers modulo their range.
template <class T>
struct ScaledRows {
  void (*add_four)(T* to, const T* const* rows, const T* factors, int64_t n);  ///< to += four rows times their factors
};

TERRA_PER_ISA(SoftmaxRows<float> softmax_rows(float); SoftmaxRows<double> softmax_rows(double);
              NormRows<float> norm_rows(float); NormRows<double> norm_rows(double);
              ChannelRows<float> channel_rows(float); ChannelRows<double> channel_rows(double);
              ResampleLines<float> resample_lines(float); ResampleLines<double> resample_lines(double);
              SampleLoops<float> sample_loops(float); SampleLoops<double> sample_loops(double);
              UpdateLoops<float> update_loops(float); UpdateLoops<double> update_loops(double);
              ScaledRows<uint8_t> scaled_rows(uint8_t); ScaledRows<int8_t> scaled_rows(int8_t);
              ScaledRows<int16_t> scaled_rows(int16_t); ScaledRows<int32_t> scaled_rows(int32_t);
              ScaledRows<int64_t> scaled_rows(int64_t); ScaledRows<float> scaled_rows(float);
              ScaledRows<double> scaled_rows(double); ExtremeRows<float> extreme_rows(float);
              ExtremeRows<double> extreme_rows(double); ExtremeRows<int32_t> extreme_rows(int32_t);
              ExtremeRows<int64_t> extreme_rows(int64_t); PoolPlanes<float> pool_planes(float);
              PoolPlanes<double> pool_planes(double);)

/// The loops of type `Table<T>` at the active instruction set: TERRA_ROWS(softmax_rows, SoftmaxRows, float).
#define TERRA_ROWS(function, Table, T)                                                        \
  ::terra::cpu::by_isa<Table<T>(T)>(&::terra::cpu::v2::function, &::terra::cpu::v3::function, \
                                    &::terra::cpu::v4::function)(T{})

}  // namespace terra::cpu
