// Special functions: those of gamma and zeta, Bessel, the inverse of the normal distribution. Elements are computed in
// double and rounded once.
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/families.h"
#include "kernels/cpu/inverse_erf.h"
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/special_functions.h"

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// The even Bernoulli numbers B2, B4, ...
constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                 5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};

/// log |gamma(x)|, without the global variable that std::lgamma leaves the sign in.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// d/dx log gamma(x): reflection below 0, recurrence up to 10, then the asymptotic series.
double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNaN;
    result = -std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  if (std::isinf(x)) return result + x;
  const double inverse = 1 / (x * x);
  double sum = 0;
  for (int k = 8; k >= 1; --k) sum = (sum + kBernoulli[k - 1] / (2 * k)) * inverse;
  return result + std::log(x) - 0.5 / x - sum;
}

/// q^-s; the usual exponent is that of the trigamma function.
double inverse_power(double q, double s) { return s == 2 ? 1 / (q * q) : std::pow(q, -s); }

/// Hurwitz's sum of (q + n)^-s over n >= 0 for q > 0: the first terms, then Euler and Maclaurin's formula for the rest.
double zeta_of_positive(double s, double q) {
  double sum = 0;
  for (; q < 12; q += 1) {
    const double term = inverse_power(q, s);
    sum += term;
    if (term < sum * kEpsilon * 1e-3) return sum;
  }
  const double last = inverse_power(q, s);
  sum += last * q / (s - 1) + 0.5 * last;
  double factor = s * last / q / 2;
  for (int k = 1; k <= 8; ++k) {
    const double term = factor * kBernoulli[k - 1];
    sum += term;
    if (std::abs(term) <= std::abs(sum) * kEpsilon * 1e-2) break;
    factor *= (s + 2 * k - 1) * (s + 2 * k) / (q * q * (2 * k + 1) * (2 * k + 2));
  }
  return sum;
}

/// Below 0 the negative terms are those of a sum over positive numbers, from 1 - r up to -q.
double zeta(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1 || std::isnan(q)) return kNaN;
  if (q <= 0 && q == std::floor(q)) return kInfinity;  // whatever s is, NaN too: PyTorch
  if (std::isnan(s)) return kNaN;
  if (q <= 0 && s != std::floor(s)) return kNaN;
  if (std::isinf(s) || std::isinf(q)) return kNaN;  // not the limit 0: PyTorch
  // One term is the sum to the last digit, or the integral is.
  if (s > 1e4 || std::abs(q) > 1e12) return q > 0 ? (q > 1e12 ? std::pow(q, 1 - s) / (s - 1) : std::pow(q, -s)) : kNaN;
  if (q > 0) return zeta_of_positive(s, q);
  const double r = q - std::floor(q), sign = std::fmod(s, 2) == 0 ? 1 : -1;
  return zeta_of_positive(s, r) + sign * (zeta_of_positive(s, 1 - r) - zeta_of_positive(s, 1 - q));
}

template <size_t n>
double polynomial(const double (&coefficients)[n], double x) {
  double sum = 0;
  for (const double c : coefficients) sum = sum * x + c;
  return sum;
}

/// y / x where erf(y) = x and w = -log(1 - x^2) < 36, to 14 digits or more.
double inverse_erf_by_x(double w) {
  if (w < 6.25) return polynomial(kInverseErfNear, w - 3.125);
  return w < 16 ? polynomial(kInverseErfFar, std::sqrt(w) - 3.25) : polynomial(kInverseErfFarthest, std::sqrt(w) - 5);
}

/// The y >= 0 with erf(y) = x and erfc(y) = tail, of which the smaller one is used: an estimate, then Halley's steps.
double inverse_erf(double x, double tail) {
  const double l = std::log(tail * (2 - tail));
  const bool known = l > -36;
  double y;
  if (known) {
    y = x * inverse_erf_by_x(-l);
  } else {
    const double m = 2 / (std::numbers::pi * 0.147) + l / 2;
    y = std::sqrt(std::sqrt(m * m - l / 0.147) - m);
  }
  for (int step = known ? 3 : 0; step < 4; ++step) {
    const double error = tail < 0.5 ? tail - std::erfc(y) : std::erf(y) - x;
    const double u = error / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= u / (1 + u * y);
  }
  return y;
}

/// The y whose normal distribution function is p.
double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  if (p == 0.5) return 0;
  const double low = p < 0.5 ? 2 * p : 2 - 2 * p;
  return (p < 0.5 ? -1 : 1) * std::numbers::sqrt2 * inverse_erf(1 - low, low);
}

/// exp(x^2) erfc(x); far out by its asymptotic series.
double erfcx(double x) {
  if (x < 20) return std::exp(x * x) * std::erfc(x);
  double sum = 1, term = 1;
  for (int k = 1; k < 12; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return sum * std::numbers::inv_sqrtpi / x;
}

/// exp(-|x|) I_n(x) for n 0 or 1: the power series, whose terms are all positive, then the asymptotic one.
double scaled_bessel(int n, double signed_x) {
  const double x = std::abs(signed_x);
  double sum = 1, term = 1;
  if (x < 25) {
    const double quarter = x * x / 4;
    for (int k = 1; term > sum * kEpsilon * 0.1; ++k) sum += term *= quarter / (k * (k + n));
    sum *= std::exp(-x) * (n == 1 ? x / 2 : 1);
  } else if (std::isinf(x)) {
    sum = 0;
  } else {
    for (int k = 1; k < 30; ++k) {
      const double odd = 2 * k - 1;
      term *= -(4 * n * n - odd * odd) / (8 * x * k);
      sum += term;
      if (std::abs(term) < kEpsilon * 0.1) break;
    }
    sum /= std::sqrt(2 * std::numbers::pi * x);
  }
  return n == 1 ? std::copysign(sum, signed_x) : sum;
}

double unscaled_bessel(int n, double x) {
  if (std::isinf(x)) return kNaN;                 // not the limit: PyTorch divides infinity by infinity
  const double half = std::exp(std::abs(x) / 2);  // the whole exponential may overflow before the product does
  return std::abs(x) > 1000 ? (n == 1 ? std::copysign(kInfinity, x) : kInfinity) : scaled_bessel(n, x) * half * half;
}

/// For a large: Temme's uniform expansion of Q(a, x) with its first correction.
double upper_gamma_of_large(double a, double x) {
  const double mu = x / a - 1;
  const double half_square = std::abs(mu) < 1e-3 ? mu * mu * (0.5 - mu * (1.0 / 3 - mu / 4)) : mu - std::log1p(mu);
  const double eta = std::copysign(std::sqrt(2 * half_square), mu);
  const double correction = std::abs(mu) < 1e-3 ? -1.0 / 3 + mu / 12 : 1 / mu - 1 / eta;
  return 0.5 * std::erfc(eta * std::sqrt(a / 2)) +
         std::exp(-a * half_square) / std::sqrt(2 * std::numbers::pi * a) * correction;
}

/// The regularized incomplete gamma function, P(a, x) or Q(a, x) = 1 - P(a, x): the smaller of the two is computed.
double incomplete_gamma(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x))) return kNaN;
  if (a == 0 || std::isinf(x)) return upper ? 0 : 1;
  if (x == 0 || std::isinf(a)) return upper ? 1 : 0;
  if (a > 1e6) {
    const double q = upper_gamma_of_large(a, x);
    return upper ? q : 1 - q;
  }
  const double front = std::exp(a * std::log(x) - x - log_gamma(a + 1));
  if (x < a + 1) {
    double sum = 1, term = 1;
    for (double n = a + 1; term > sum * kEpsilon * 0.1; n += 1) sum += term *= x / n;
    return upper ? 1 - front * sum : front * sum;
  }
  // Lentz's evaluation of the continued fraction.
  double b = x + 1 - a, c = 1 / 1e-300, d = 1 / b, h = d;
  for (int i = 1; i < 10000; ++i) {
    const double an = -i * (i - a);
    b += 2;
    d = an * d + b;
    c = b + an / c;
    if (std::abs(d) < 1e-300) d = 1e-300;
    if (std::abs(c) < 1e-300) c = 1e-300;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) break;
  }
  const double q = front * a * h;
  return upper ? q : 1 - q;
}

#define TERRA_SPECIAL_UNARY(Name, expression)                                       \
  template <class T>                                                                \
  struct Name : Plain<T> {                                                          \
    using Plain<T>::Plain;                                                          \
    T operator()(T in) const {                                                      \
      const double x = static_cast<double>(in);                                     \
      return static_cast<T>(std::isnan(x) ? x : static_cast<double>((expression))); \
    }                                                                               \
  };
#define TERRA_SPECIAL_BINARY(Name, expression)                                      \
  template <class T>                                                                \
  struct Name : Plain<T> {                                                          \
    using Plain<T>::Plain;                                                          \
    T operator()(T first, T second) const {                                         \
      const double a = static_cast<double>(first), x = static_cast<double>(second); \
      return static_cast<T>(expression);                                            \
    }                                                                               \
  };

TERRA_SPECIAL_UNARY(Digamma, digamma(x))
TERRA_SPECIAL_UNARY(Ndtri, ndtri(x))
TERRA_SPECIAL_UNARY(Erfcx, erfcx(x))
TERRA_SPECIAL_UNARY(I0, unscaled_bessel(0, x))
TERRA_SPECIAL_UNARY(I0e, scaled_bessel(0, x))
TERRA_SPECIAL_UNARY(I1, unscaled_bessel(1, x))
TERRA_SPECIAL_UNARY(I1e, scaled_bessel(1, x))
template <class T>
struct NextAfter : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T from, T to) const { return std::nextafter(from, to); }
};
TERRA_SPECIAL_BINARY(Zeta, zeta(a, x))
TERRA_SPECIAL_BINARY(Gammainc, incomplete_gamma(a, x, false))
TERRA_SPECIAL_BINARY(Gammaincc, incomplete_gamma(a, x, true))

/// Functions of several kinds, which an argument names.
template <class T>
struct BesselFunction {
  using In = T;
  using Out = T;
  explicit BesselFunction(const KernelArg* params) : kind(static_cast<int>(params[1].number.to_int())) {}
  T operator()(T x) const { return static_cast<T>(bessel_function(static_cast<double>(x), kind)); }
  int kind;
};
template <class T>
struct OrthogonalPolynomial {
  using In = T;
  using Out = T;
  explicit OrthogonalPolynomial(const KernelArg* params) : kind(static_cast<int>(params[2].number.to_int())) {}
  T operator()(T x, T n) const {
    return static_cast<T>(orthogonal_polynomial(static_cast<double>(x), static_cast<double>(n), kind));
  }
  int kind;
};

constexpr Kernel kTable[] = {
    unary<BesselFunction, float, double>("bessel_function", 255),
    binary<OrthogonalPolynomial, float, double>("orthogonal_polynomial", 60),
    unary<Digamma, float, double>("digamma", 200),
    unary<Ndtri, float, double>("special_ndtri", 255),
    unary<Erfcx, float, double>("special_erfcx", 120),
    unary<I0, float, double>("i0", 255),
    unary<I0e, float, double>("special_i0e", 255),
    unary<I1, float, double>("special_i1", 255),
    unary<I1e, float, double>("special_i1e", 255),
    binary<Zeta, float, double>("special_zeta", 255),
    binary<NextAfter, float, double>("nextafter", 20),
    binary<Gammainc, float, double>("igamma", 255),
    binary<Gammaincc, float, double>("igammac", 255),
};

}  // namespace

std::span<const Kernel> special_kernels() { return kTable; }

}  // namespace terra::cpu
