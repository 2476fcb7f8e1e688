// The softmax family along one dimension, in f64.
#include <cmath>
#include <vector>

#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

/// Calls body(n, offset_of) for every row along the dimension: element i of the row is element offset_of(i) of the
/// tensor in row-major order.
template <class Body>
void for_each_row(const View& v, int64_t dim, const Body& body) {
  if (v.rank == 0) return body(int64_t{1}, [](int64_t) { return int64_t{0}; });
  if (dim < 0) dim += v.rank;
  int64_t outer = 1, inner = 1;
  for (int64_t i = 0; i < v.rank; ++i) (i < dim ? outer : inner) *= i == dim ? 1 : v.sizes[i];
  const int64_t n = v.sizes[dim];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < inner; ++k) body(n, [=](int64_t i) { return (o * n + i) * inner + k; });
  }
}

template <bool log>
void forward(const KernelCall& call) {
  const View &in = call.view(0), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for_each_row(out, call.integer(1), [&](int64_t n, auto offset_of) {
      double top = -INFINITY, sum = 0;
      for (int64_t i = 0; i < n; ++i) top = std::fmax(top, static_cast<double>(nth<T>(in, offset_of(i))));
      for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<double>(nth<T>(in, offset_of(i))) - top);
      for (int64_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(nth<T>(in, offset_of(i))) - top;
        nth<T>(out, offset_of(i)) = static_cast<T>(log ? x - std::log(sum) : std::exp(x) / sum);
      }
    });
  });
}

/// softmax: (g - sum(g y)) y.  log_softmax: g - exp(y) sum(g).
template <bool log>
void backward(const KernelCall& call) {
  const View &grad = call.view(0), &result = call.view(1), &out = call.out[0];
  with_float(out.dtype, [&]<class T>(T) {
    for_each_row(out, call.integer(2), [&](int64_t n, auto offset_of) {
      const auto g = [&](int64_t i) { return static_cast<double>(nth<T>(grad, offset_of(i))); };
      const auto y = [&](int64_t i) { return static_cast<double>(nth<T>(result, offset_of(i))); };
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += log ? g(i) : g(i) * y(i);
      for (int64_t i = 0; i < n; ++i) {
        nth<T>(out, offset_of(i)) = static_cast<T>(log ? g(i) - std::exp(y(i)) * sum : (g(i) - sum) * y(i));
      }
    });
  });
}

constexpr Kernel kKernels[] = {
    {.op = "softmax", .run = forward<false>},
    {.op = "log_softmax", .run = forward<true>},
    {.op = "softmax_backward", .run = backward<false>},
    {.op = "log_softmax_backward", .run = backward<true>},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace terra::reference
