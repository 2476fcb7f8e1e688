// Sums over runs and normalization of rows.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

template <class T>
double sum(const T* x, int64_t n) {
  return sum_run<T>(n, [&](int64_t i, int64_t count) { return read(x + i, count); });
}

template <class T>
double sum_of_squares(const T* x, double center, int64_t n) {
  const T c = static_cast<T>(center);
  return sum_run<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> d = read(x + i, count, c) - c;
    return d * d;
  });
}

template <class T>
double dot(const T* a, const T* b, int64_t n) {
  return sum_run<T>(n, [&](int64_t i, int64_t count) { return read(a + i, count) * read(b + i, count); });
}

template <class T>
void sums_with_gradient(const T* grad, const T* x, double center, int64_t n, double* sums) {
  const T c = static_cast<T>(center);
  sums[0] += sum(grad, n);
  sums[1] += sum_run<T>(n, [&](int64_t i, int64_t count) { return read(grad + i, count) * (read(x + i, count) - c); });
}

template <class T>
void scale_shift(T* out, const T* x, T scale, T shift, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * scale + shift;
}

template <class T>
void combine(T* out, const T* a, T scale_a, const T* b, T scale_b, T shift, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] * scale_a + b[i] * scale_b + shift;
}

template <class T>
void layer_norm(T* out, const T* x, const T* weight, const T* bias, T eps, int64_t n, T* mean, T* rstd) {
  const double count_of_row = static_cast<double>(n);
  const double center = sum(x, n) / count_of_row;
  const double variance = sum_of_squares(x, center, n) / count_of_row;
  const T m = static_cast<T>(center);
  const T r = static_cast<T>(1.0 / __builtin_sqrt(variance + static_cast<double>(eps)));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    Vec<T> y = (read(x + i, count) - m) * r;
    if (weight != nullptr) y = y * read(weight + i, count);
    if (bias != nullptr) y = y + read(bias + i, count);
    write<T>(out + i, y, count);
  });
  *mean = m;
  *rstd = r;
}

template <class T>
void layer_norm_backward(T* out, const T* grad, const T* x, T mean, T rstd, const T* weight, int64_t n, T* weight_grad,
                         T* bias_grad) {
  const auto scaled_grad = [&](int64_t i, int64_t count) {
    const Vec<T> g = read(grad + i, count);
    return weight != nullptr ? g * read(weight + i, count) : g;
  };
  const auto normal = [&](int64_t i, int64_t count) { return (read(x + i, count) - mean) * rstd; };
  const double count_of_row = static_cast<double>(n);
  const T mean_grad = static_cast<T>(sum_run<T>(n, scaled_grad) / count_of_row);
  const T mean_product = static_cast<T>(
      sum_run<T>(n,
                 [&](int64_t i, int64_t count) { return only<T>(scaled_grad(i, count) * normal(i, count), count); }) /
      count_of_row);
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> g = read(grad + i, count), h = normal(i, count);
    write<T>(weight_grad + i, read(weight_grad + i, count) + g * h, count);
    write<T>(bias_grad + i, read(bias_grad + i, count) + g, count);
    write<T>(out + i, (scaled_grad(i, count) - mean_grad - h * mean_product) * rstd, count);
  });
}

template <class T>
NormRows<T> table() {
  return {sum<T>,         sum_of_squares<T>, dot<T>,        sums_with_gradient<T>,
          scale_shift<T>, combine<T>,        layer_norm<T>, layer_norm_backward<T>};
}

}  // namespace

NormRows<float> norm_rows(float) { return table<float>(); }
NormRows<double> norm_rows(double) { return table<double>(); }

}  // namespace terra::cpu::TERRA_ISA
