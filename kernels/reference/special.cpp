// What the special functions mean: sums, integrals and bisections, written for clarity.
#include <cmath>
#include <limits>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"
#include "kernels/reference/special_functions.h"

namespace terra::reference {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// Below 0 by reflection; above, recurrence up to 40, where few terms of the asymptotic series are enough.
double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) return x == std::floor(x) ? kNaN : digamma(1 - x) - M_PI / std::tan(M_PI * (x - std::floor(x)));
  double below = 0;
  for (; x < 40; x += 1) below += 1 / x;
  if (std::isinf(x)) return x;
  const double s = 1 / (x * x);
  return std::log(x) - 0.5 / x - s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s / 240))) - below;
}

/// The sum of (q + n)^-s: terms up to q + n = 60, the integral over the rest and its corrections.
double zeta(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1 || std::isnan(q)) return kNaN;
  if (q <= 0 && q == std::floor(q)) return kInfinity;  // whatever s is, NaN too: PyTorch
  if (std::isnan(s)) return kNaN;
  if (q <= 0 && s != std::floor(s)) return kNaN;
  if (std::isinf(s) || std::isinf(q)) return kNaN;  // not the limit 0: PyTorch
  // One term is the sum to the last digit, or the integral is.
  if (s > 1e4 || std::abs(q) > 1e12) return q > 0 ? (q > 1e12 ? std::pow(q, 1 - s) / (s - 1) : std::pow(q, -s)) : kNaN;
  double sum = 0;
  for (; q < 60; q += 1) sum += std::pow(q, -s);
  const double p = std::pow(q, -s), q2 = q * q;
  return sum + p * q / (s - 1) + p / 2 + p * s / (12 * q) - p * s * (s + 1) * (s + 2) / (720 * q * q2) +
         p * s * (s + 1) * (s + 2) * (s + 3) * (s + 4) / (30240 * q * q2 * q2);
}

/// The y >= 0 where erfc is `tail` (or erf is `x`, where that says more), by bisection.
double inverse_erf(double x, double tail) {
  double low = 0, high = 30;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    const bool below = tail < 0.5 ? std::erfc(middle) > tail : std::erf(middle) < x;
    (below ? low : high) = middle;
  }
  return (low + high) / 2;
}
double erfinv(double x) {
  if (!(std::abs(x) <= 1)) return kNaN;
  if (std::abs(x) == 1) return std::copysign(kInfinity, x);
  return x == 0 ? x : std::copysign(inverse_erf(std::abs(x), 1 - std::abs(x)), x);
}
double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  if (p > 0.5) return -ndtri(1 - p);
  return p == 0.5 ? 0 : -std::sqrt(2.0) * inverse_erf(1 - 2 * p, 2 * p);
}

/// exp(x^2) erfc(x); for x > 5 the continued fraction, from its depth.
double erfcx(double x) {
  if (std::isnan(x)) return x;
  if (x < 5) return std::exp(x * x) * std::erfc(x);
  double f = x;
  for (int k = 200; k >= 1; --k) f = x + k / 2.0 / f;
  return 1 / (f * std::sqrt(M_PI));
}

/// exp(-|x|) I_n(x) = the mean of exp(|x| (cos t - 1)) cos(n t), which the trapezoidal rule gives to the last digit.
double scaled_bessel(int n, double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return n == 1 ? std::copysign(0.0, x) : 0;
  const double size = std::abs(x);
  const int steps = 64 + static_cast<int>(12 * std::sqrt(std::min(size, 1e6)));
  double sum = 0;
  for (int k = 0; k < 2 * steps; ++k) {
    const double half = std::sin(M_PI * k / steps / 2);
    sum += std::exp(-2 * size * half * half) * std::cos(n * M_PI * k / steps);
  }
  const double mean = n == 1 && size == 0 ? 0 : sum / (2 * steps);
  return n == 1 ? std::copysign(mean, x) : mean;
}
double bessel(int n, double x) {
  if (std::isinf(x)) return kNaN;
  const double half = std::exp(std::abs(x) / 2);
  return std::abs(x) > 1000 ? (n == 1 ? std::copysign(kInfinity, x) : kInfinity) : scaled_bessel(n, x) * half * half;
}

/// P(a, x) by its power series where that is the smaller side, else 1 minus the continued fraction from its depth.
double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return kNaN;
  if (a == 0 || std::isinf(x)) return upper ? 0 : 1;
  if (x == 0 || std::isinf(a)) return upper ? 1 : 0;
  if (a > 1e6) {  // the cube root of x is nearly normal (Wilson and Hilferty)
    const double z = (std::cbrt(x / a) - 1 + 1 / (9 * a)) * 3 * std::sqrt(a / 2);
    return 0.5 * std::erfc(upper ? z : -z);
  }
  const double front = std::exp(a * std::log(x) - x - log_gamma(a + 1));
  if (x < a + 1) {
    double sum = 0, term = 1;
    for (int n = 1; n < 100000 && term > 0; ++n) {
      sum += term;
      term *= x / (a + n);
    }
    return upper ? 1 - front * sum : front * sum;
  }
  double f = 0;
  for (int k = 2000; k >= 1; --k) f = k * (k - a) / (x + 2 * k + 1 - a - f);
  const double q = front * a / (x + 1 - a - f);
  return upper ? q : 1 - q;
}

/// The neighbour among numbers of type T.
template <class T>
void next_after(char* const* data, const int64_t* strides, int64_t n, const KernelArg*) {
  for (int64_t i = 0; i < n; ++i)
    element<T>(data, strides, 0, i) = std::nextafter(element<T>(data, strides, 1, i), element<T>(data, strides, 2, i));
}
consteval Kernel nextafter_kernel() {
  Kernel k{.op = "nextafter"};
  k.loops[static_cast<int>(DType::F32)] = next_after<float>;
  k.loops[static_cast<int>(DType::F64)] = next_after<double>;
  return k;
}

constexpr auto kBessel = [](double x, const KernelArg* params) {
  return bessel_function(x, static_cast<int>(params[1].number.to_int()));
};
constexpr auto kPolynomial = [](double x, double n, const KernelArg* params) {
  return orthogonal_polynomial(x, n, static_cast<int>(params[2].number.to_int()));
};

constexpr Kernel kKernels[] = {
    elementwise<1, kBessel, kFloats>("bessel_function"),
    elementwise<2, kPolynomial, kFloats>("orthogonal_polynomial"),
    nextafter_kernel(),
    elementwise<1, [](double x) { return std::asinh(x); }, kFloats>("asinh"),
    elementwise<1, [](double x) { return std::acosh(x); }, kFloats>("acosh"),
    elementwise<1, [](double x) { return std::atanh(x); }, kFloats>("atanh"),
    elementwise<1, [](double x) { return log_gamma(x); }, kFloats>("lgamma"),
    elementwise<1, [](double x) { return digamma(x); }, kFloats>("digamma"),
    elementwise<1, [](double x) { return erfinv(x); }, kFloats>("erfinv"),
    elementwise<1, [](double x) { return ndtri(x); }, kFloats>("special_ndtri"),
    elementwise<1, [](double x) { return erfcx(x); }, kFloats>("special_erfcx"),
    elementwise<1, [](double x) { return bessel(0, x); }, kFloats>("i0"),
    elementwise<1, [](double x) { return scaled_bessel(0, x); }, kFloats>("special_i0e"),
    elementwise<1, [](double x) { return bessel(1, x); }, kFloats>("special_i1"),
    elementwise<1, [](double x) { return scaled_bessel(1, x); }, kFloats>("special_i1e"),
    elementwise<2, [](double s, double q) { return zeta(s, q); }, kFloats>("special_zeta"),
    elementwise<2, [](double a, double x) { return incomplete_gamma(a, x, false); }, kFloats>("igamma"),
    elementwise<2, [](double a, double x) { return incomplete_gamma(a, x, true); }, kFloats>("igammac"),
};

}  // namespace

std::span<const Kernel> special_kernels() { return kKernels; }

}  // namespace terra::reference
