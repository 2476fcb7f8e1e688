// The negative log likelihood loss over scores [C], [N, C] or [N, C, d...].
#include <cmath>
#include <string>

#include "kernels/abi/kernel_error.h"
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

int64_t integer_at(const View& v, int64_t i) {
  int64_t value = 0;
  with_number(v.dtype, [&]<class T>(T) { value = static_cast<int64_t>(nth<T>(v, i)); });
  return value;
}

/// Calls body(target number, class, number of the score's element, weight) for every target that isn't ignored.
template <class T, class Body>
void for_each_target(const View& target, std::span<const int64_t> scores, const KernelCall& call, int64_t ignored,
                     const Body& body) {
  const int64_t classes = scores.size() == 1 ? scores[0] : scores[1];
  int64_t places = 1;
  for (size_t i = 2; i < scores.size(); ++i) places *= scores[i];
  for (int64_t i = 0; i < target.numel(); ++i) {
    const int64_t c = integer_at(target, i);
    if (c == ignored) continue;
    if (c < 0 || c >= classes) {
      throw KernelError(KernelError::Kind::Index, "Target " + std::to_string(c) + " is out of bounds.");
    }
    body(i, (i / places * classes + c) * places + i % places,
         call.has(2) ? static_cast<double>(nth<T>(call.view(2), c)) : 1.0);
  }
}

/// (self, target, weight?, reduction, ignore_index) -> loss, total_weight
void nll_loss_forward(const KernelCall& call) {
  const View &self = call.view(0), &loss = call.out[0];
  with_float(self.dtype, [&]<class T>(T) {
    const bool reduces = call.text(3) != "none";
    double sum = 0, total = 0;
    for (int64_t i = 0; !reduces && i < loss.numel(); ++i) nth<T>(loss, i) = 0;
    for_each_target<T>(call.view(1), {self.sizes, static_cast<size_t>(self.rank)}, call, call.integer(4),
                       [&](int64_t i, int64_t score, double w) {
                         const double value = -w * static_cast<double>(nth<T>(self, score));
                         if (!reduces) nth<T>(loss, i) = static_cast<T>(value);
                         sum += value;
                         total += w;
                       });
    if (reduces) nth<T>(loss, 0) = static_cast<T>(call.text(3) == "mean" ? sum / total : sum);
    nth<T>(call.out[1], 0) = static_cast<T>(total);
  });
}

/// (grad, target, weight?, total_weight, input_sizes, reduction, ignore_index)
void nll_loss_backward(const KernelCall& call) {
  const View &grad = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    const double total = nth<T>(call.view(3), 0);
    for_each_target<T>(call.view(1), call.ints(4), call, call.integer(6), [&](int64_t i, int64_t score, double w) {
      const double g = nth<T>(grad, call.text(5) == "none" ? i : 0);
      nth<T>(out, score) = static_cast<T>(-w * (call.text(5) == "mean" ? g / total : g));
    });
  });
}

/// (grad, target, weight?, total_weight, log_p, reduction, ignore_index): g - exp(log_p) * sum(g), where g is what
/// nll_loss_backward gives
void cross_entropy_backward(const KernelCall& call) {
  const View &grad = call.view(0), &log_p = call.view(4), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = 0;
    const double total = nth<T>(call.view(3), 0);
    const std::span<const int64_t> sizes(out.sizes, static_cast<size_t>(out.rank));
    const int64_t classes = sizes.back();
    for_each_target<T>(call.view(1), sizes, call, call.integer(6), [&](int64_t i, int64_t score, double w) {
      double g = nth<T>(grad, call.text(5) == "none" ? i : 0);
      g = -w * (call.text(5) == "mean" ? g / total : g);
      for (int64_t c = i * classes; c < (i + 1) * classes; ++c)
        nth<T>(out, c) = static_cast<T>((c == score ? g : 0) - std::exp(static_cast<double>(nth<T>(log_p, c))) * g);
    });
  });
}

constexpr Kernel kKernels[] = {
    {.op = "nll_loss_forward", .run = nll_loss_forward},
    {.op = "nll_loss_backward", .run = nll_loss_backward},
    {.op = "cross_entropy_backward", .run = cross_entropy_backward},
};

}  // namespace

std::span<const Kernel> nll_loss_kernels() { return kKernels; }

}  // namespace terra::reference
