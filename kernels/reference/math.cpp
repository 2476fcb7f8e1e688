// What the transcendental ops mean.
#include <cmath>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

#define TERRA_FUNCTION(name) elementwise<1, [](double x) { return std::name(x); }, kFloats>(#name)

constexpr auto kSigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };

/// 1 + erf and 1 + tanh in forms that keep their digits for large negative x.
constexpr auto kGelu = [](double x, const KernelArg* p) {
  if (std::string_view(p[1].chars, p[1].count) == "tanh") {
    return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
};

constexpr auto kSwish = [](double x) { return x / (1 + std::exp(-x)); };
constexpr auto kSwishBackward = [](double grad, double x) { return grad * kSigmoid(x) * (1 + x * kSigmoid(-x)); };

constexpr auto kGeluBackward = [](double grad, double x, const KernelArg* p) {
  if (std::string_view(p[2].chars, p[2].count) == "tanh") {
    const double scale = 2 * std::sqrt(2 / M_PI), s = 1 / (1 + std::exp(-scale * (x + 0.044715 * x * x * x)));
    return grad * (s + x * s * (1 - s) * scale * (1 + 3 * 0.044715 * x * x));
  }
  return grad * (0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI));
};

constexpr auto kSoftplus = [](double x, const KernelArg* p) {
  const double beta = attribute<double>(p[1]), threshold = attribute<double>(p[2]);
  return beta * x > threshold ? x : std::log1p(std::exp(beta * x)) / beta;
};

constexpr auto kElu = [](double x, const KernelArg* p) { return x > 0 ? x : attribute<double>(p[1]) * std::expm1(x); };

constexpr auto kPow = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>) {
    if (b < 0) return a == 1 ? int64_t{1} : a == -1 ? (b % 2 == 0 ? int64_t{1} : int64_t{-1}) : int64_t{0};
    uint64_t result = 1, square = static_cast<uint64_t>(a);
    for (uint64_t rest = static_cast<uint64_t>(b); rest != 0; rest >>= 1, square *= square)
      if (rest & 1) result *= square;
    return static_cast<int64_t>(result);
  } else {
    return b == 0.5 ? std::sqrt(a) : std::pow(a, b);  // as PyTorch: the square root of -inf is NaN
  }
};

constexpr auto kLogsigmoid = [](double x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::abs(x))); };

constexpr auto kHardswishBackward = [](double grad, double x) {
  return x <= -3 ? 0 : x < 3 ? grad * (x / 3 + 0.5) : grad;
};

constexpr auto kLogaddexp = [](double x, double y) {
  if (x == y && std::isinf(x)) return x;
  return std::fmax(x, y) + std::log1p(std::exp(-std::abs(x - y)));
};

constexpr Kernel kKernels[] = {
    TERRA_FUNCTION(exp),
    TERRA_FUNCTION(expm1),
    TERRA_FUNCTION(log),
    TERRA_FUNCTION(log2),
    TERRA_FUNCTION(log10),
    TERRA_FUNCTION(log1p),
    TERRA_FUNCTION(sin),
    TERRA_FUNCTION(cos),
    TERRA_FUNCTION(tan),
    TERRA_FUNCTION(asin),
    TERRA_FUNCTION(acos),
    TERRA_FUNCTION(atan),
    TERRA_FUNCTION(sinh),
    TERRA_FUNCTION(cosh),
    TERRA_FUNCTION(tanh),
    TERRA_FUNCTION(erf),
    TERRA_FUNCTION(erfc),
    elementwise<1, kSigmoid, kFloats>("sigmoid"),
    elementwise<1, kGelu, kFloats>("gelu"),
    elementwise<2, kGeluBackward, kFloats>("gelu_backward"),
    elementwise<1, kSwish, kFloats>("swish"),
    elementwise<2, kSwishBackward, kFloats>("swish_backward"),
    elementwise<1, kSoftplus, kFloats>("softplus"),
    elementwise<1, kElu, kFloats>("elu"),
    elementwise<2, [](double y, double x) { return std::atan2(y, x); }, kFloats>("atan2"),
    elementwise<2, [](double x, double y) { return std::hypot(x, y); }, kFloats>("hypot"),
    elementwise<2, [](double x, double sign) { return std::copysign(x, sign); }, kFloats>("copysign"),
    elementwise<2, kLogaddexp, kFloats>("logaddexp_reals"),
    elementwise<1, kLogsigmoid, kFloats>("logsigmoid"),
    elementwise<2, kHardswishBackward, kFloats>("hardswish_backward"),
    elementwise<2, kPow, kAll>("pow"),
};

}  // namespace

std::span<const Kernel> math_kernels() { return kKernels; }

}  // namespace terra::reference
