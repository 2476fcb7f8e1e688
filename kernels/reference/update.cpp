// Optimizer updates as their formulas read.
#include <cmath>

#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

/// (params, grads, buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first) -> params, buffers
void sgd_update(const KernelCall& call) {
  const auto params = call.views(0), grads = call.views(1), buffers = call.views(2);
  const double lr = call.real(3), momentum = call.real(4), dampening = call.real(5), decay = call.real(6);
  const bool nesterov = call.flag(7), maximize = call.flag(8), first = call.flag(9);
  for (size_t t = 0; t < params.size(); ++t) {
    with_float(params[t].dtype, [&]<class T>(T) {
      for (int64_t i = 0; i < params[t].numel(); ++i) {
        const double p = nth<T>(params[t], i);
        double d = (maximize ? -1.0 : 1.0) * static_cast<double>(nth<T>(grads[t], i)) + decay * p;
        if (momentum != 0 && !buffers.empty()) {
          const double b = first ? d : momentum * static_cast<double>(nth<T>(buffers[t], i)) + (1 - dampening) * d;
          nth<T>(call.out[params.size() + t], i) = static_cast<T>(b);
          d = nesterov ? d + momentum * b : b;
        } else if (!buffers.empty()) {
          nth<T>(call.out[params.size() + t], i) = nth<T>(buffers[t], i);
        }
        nth<T>(call.out[t], i) = static_cast<T>(p - lr * d);
      }
    });
  }
}

/// (params, grads, exp_avgs, exp_avg_sqs, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize) -> params,
/// exp_avgs, exp_avg_sqs
void adam_update(const KernelCall& call) {
  const auto params = call.views(0), grads = call.views(1), means = call.views(2), squares = call.views(3);
  const double step = call.real(4), lr = call.real(5), beta1 = call.real(6), beta2 = call.real(7), eps = call.real(8);
  const double decay = call.real(9);
  const bool decoupled = call.flag(10), maximize = call.flag(11);
  const size_t n = params.size();
  for (size_t t = 0; t < n; ++t) {
    with_float(params[t].dtype, [&]<class T>(T) {
      for (int64_t i = 0; i < params[t].numel(); ++i) {
        double p = nth<T>(params[t], i), g = nth<T>(grads[t], i);
        if (maximize) g = -g;
        if (decoupled) {
          p -= lr * decay * p;
        } else {
          g += decay * p;
        }
        const double m = beta1 * static_cast<double>(nth<T>(means[t], i)) + (1 - beta1) * g;
        const double s = beta2 * static_cast<double>(nth<T>(squares[t], i)) + (1 - beta2) * g * g;
        const double corrected = std::sqrt(s / (1 - std::pow(beta2, step)));
        nth<T>(call.out[t], i) = static_cast<T>(p - lr * m / (1 - std::pow(beta1, step)) / (corrected + eps));
        nth<T>(call.out[n + t], i) = static_cast<T>(m);
        nth<T>(call.out[2 * n + t], i) = static_cast<T>(s);
      }
    });
  }
}

constexpr Kernel kKernels[] = {
    {.op = "sgd_update", .run = sgd_update},
    {.op = "adam_update", .run = adam_update},
};

}  // namespace

std::span<const Kernel> update_kernels() { return kKernels; }

}  // namespace terra::reference
