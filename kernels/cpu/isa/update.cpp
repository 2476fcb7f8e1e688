// Optimizer updates: one pass over a parameter and its state.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

template <class T>
void sgd(const SgdRule& rule, T* out, T* buffer_out, const T* param, const T* grad, const T* buffer, int64_t n) {
  const T sign = rule.maximize ? T(-1) : T(1);
  const T decay = static_cast<T>(rule.weight_decay), momentum = static_cast<T>(rule.momentum);
  const T fresh = static_cast<T>(1 - rule.dampening), lr = static_cast<T>(rule.lr);
  const bool decays = rule.weight_decay != 0;
  const auto direction = [&](int64_t i) {
    const T g = sign * grad[i];
    return decays ? g + decay * param[i] : g;
  };
  if (buffer_out == nullptr) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = param[i] - lr * direction(i);
  } else if (rule.first) {
    const T factor = rule.nesterov ? T(1) + momentum : T(1);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T d = direction(i);
      out[i] = param[i] - lr * (factor * d);
      buffer_out[i] = d;
    }
  } else if (rule.nesterov) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T d = direction(i);
      const T b = momentum * buffer[i] + fresh * d;
      out[i] = param[i] - lr * (d + momentum * b);
      buffer_out[i] = b;
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const T b = momentum * buffer[i] + fresh * direction(i);
      out[i] = param[i] - lr * b;
      buffer_out[i] = b;
    }
  }
}

template <class T>
void adam(const AdamRule& rule, T* out, T* mean_out, T* square_out, const T* param, const T* grad, const T* mean,
          const T* square, int64_t n) {
  const T sign = rule.maximize ? T(-1) : T(1);
  const T beta2 = static_cast<T>(rule.beta2), eps = static_cast<T>(rule.eps);
  const T rest1 = static_cast<T>(1 - rule.beta1), rest2 = static_cast<T>(1 - rule.beta2);
  const T step_size = static_cast<T>(rule.step_size), root = static_cast<T>(rule.root_of_correction);
  const T shrink = rule.decoupled ? static_cast<T>(rule.decay) : T(1);
  const T joins = rule.decoupled ? T(0) : static_cast<T>(rule.decay);
  const bool decays = joins != T(0);
  for_each_vector<T>(n, [&](int64_t i, int64_t count) {
    const Vec<T> p = read(param + i, count) * shrink;
    Vec<T> g = read(grad + i, count) * sign;
    if (decays) g = g + joins * p;
    const Vec<T> before = read(mean + i, count);
    const Vec<T> m = before + rest1 * (g - before);
    const Vec<T> s = beta2 * read(square + i, count) + rest2 * g * g;
    write<T>(out + i, p - step_size * m / (v_sqrt(s) / root + eps), count);
    write<T>(mean_out + i, m, count);
    write<T>(square_out + i, s, count);
  });
}

}  // namespace

UpdateLoops<float> update_loops(float) { return {sgd<float>, adam<float>}; }
UpdateLoops<double> update_loops(double) { return {sgd<double>, adam<double>}; }

}  // namespace terra::cpu::TERRA_ISA
