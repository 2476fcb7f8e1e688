// What Bessel functions and Airy's mean: integrals, by sums over many points that lie close enough.
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/reference/special_functions.h"

namespace terra::reference {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// J_n(x) is the mean of cos(n t - x sin t) around the circle.
double bessel_j(int n, double x) {
  const int points = 2000;
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    const double t = 2 * std::numbers::pi * i / points;
    sum += std::cos(n * t - x * std::sin(t));
  }
  return sum / points;
}
/// K_n(x) exp(x) is the integral of exp(-x (cosh t - 1)) cosh nt over t > 0.
double scaled_k(double n, double x) {
  if (x < 0) return kNaN;
  if (x == 0) return std::numeric_limits<double>::infinity();
  if (std::isinf(x)) return 0;
  const double step = 1.0 / 256;
  double sum = 0.5;
  for (double t = step; t < 12; t += step) sum += std::exp(-x * (std::cosh(t) - 1)) * std::cosh(n * t);
  return sum * step;
}

}  // namespace

double bessel_function(double x, int kind) {
  if (std::isnan(x)) return x;
  if (kind < 2) return std::isinf(x) ? kNaN : bessel_j(kind, x);
  if (kind < 4) return x < 0 || std::isinf(x) ? kNaN : kind == 2 ? ::y0(x) : ::y1(x);
  if (kind < 8) return scaled_k(kind % 2, x) * (kind < 6 && x > 0 && !std::isinf(x) ? std::exp(-x) : 1);
  if (!std::isfinite(x)) return kNaN;
  if (x > 2) {  // K of order 1/3
    const double z = 2.0 / 3 * x * std::sqrt(x);
    return std::sqrt(x / 3) / std::numbers::pi * scaled_k(1.0 / 3, z) * std::exp(-z);
  }
  // Airy: the power series of the two solutions of y'' = x y, near 0.
  double f = 1, g = x, f_term = 1, g_term = x;
  for (int k = 1; k < 200; ++k) {
    f_term *= x * x * x / ((3.0 * k) * (3.0 * k - 1));
    g_term *= x * x * x / ((3.0 * k + 1) * (3.0 * k));
    f += f_term;
    g += g_term;
  }
  return 0.35502805388781723926 * f - 0.25881940379280679840 * g;
}

}  // namespace terra::reference
