// Softmax and log-softmax of one row, and their gradients.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

template <class T>
T maximum(const T* in, int64_t n) {
  const T lowest = -static_cast<T>(__builtin_inff());
  Vec<T> best = broadcast(lowest);
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> x = read(in + i, count, lowest);
    best = x > best ? x : best;
  });
  return max_lanes<T>(best);
}

template <class T>
void softmax(T* out, const T* in, int64_t n) {
  const T top = maximum(in, n);
  const T lowest = -static_cast<T>(__builtin_inff());
  const T sum = static_cast<T>(sum_run<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> e = v_exp(read(in + i, count, lowest) - top);
    write<T>(out + i, e, count);
    return count == kLanes<T> ? e : read(out + i, count);  // a row of -inf: the padding must not count as NaN
  }));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) { write<T>(out + i, read(out + i, count) / sum, count); });
}

template <class T>
void log_softmax(T* out, const T* in, int64_t n) {
  const T top = maximum(in, n);
  const double sum = sum_run<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> e = v_exp(read(in + i, count, top) - top);
    Vec<T> wanted = {};
    __builtin_memcpy(&wanted, &e, static_cast<unsigned long>(count) * sizeof(T));
    return wanted;
  });
  const T log_sum = static_cast<T>(__builtin_log(sum));
  for_each_vector<T>(n,
                     [&](int64_t i, int64_t count) { write<T>(out + i, read(in + i, count) - top - log_sum, count); });
}

template <class T>
void softmax_backward(T* out, const T* grad, const T* result, int64_t n) {
  const T dot = static_cast<T>(
      sum_run<T>(n, [&](int64_t i, int64_t count) { return read(grad + i, count) * read(result + i, count); }));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    write<T>(out + i, (read(grad + i, count) - dot) * read(result + i, count), count);
  });
}

template <class T>
void log_softmax_backward(T* out, const T* grad, const T* result, int64_t n) {
  const T sum = static_cast<T>(sum_run<T>(n, [&](int64_t i, int64_t count) { return read(grad + i, count); }));
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    write<T>(out + i, read(grad + i, count) - v_exp(read(result + i, count)) * sum, count);
  });
}

template <class T>
void cross_entropy_backward(T* out, T grad, int64_t place, const T* result, int64_t n) {
  const Vec<T> at_place = grad - v_exp(read(result + place, 1)) * grad;
  for_each_vector<T>(
      n, [&](int64_t i, int64_t count) { write<T>(out + i, T{0} - v_exp(read(result + i, count)) * grad, count); });
  write<T>(out + place, at_place, 1);
}

}  // namespace

SoftmaxRows<float> softmax_rows(float) {
  return {softmax<float>, log_softmax<float>, softmax_backward<float>, log_softmax_backward<float>,
          cross_entropy_backward<float>};
}
SoftmaxRows<double> softmax_rows(double) {
  return {softmax<double>, log_softmax<double>, softmax_backward<double>, log_softmax_backward<double>,
          cross_entropy_backward<double>};
}

}  // namespace terra::cpu::TERRA_ISA
