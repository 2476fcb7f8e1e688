// Bessel functions and Airy's, by the C and C++ libraries and, far out, by their asymptotic series.
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/special_functions.h"

namespace terra::cpu {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// From here on the asymptotic series of the modified functions are exact to rounding.
constexpr double kFar = 25;

/// K_order(x) exp(x).
double scaled_k(int order, double x) {
  if (std::isnan(x) || x < 0) return kNaN;
  if (x == 0) return kInfinity;
  if (std::isinf(x)) return 0;
  if (x <= kFar) return std::cyl_bessel_k(static_cast<double>(order), x) * std::exp(x);
  double term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    term *= (4.0 * order * order - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * x);
    sum += term;
    if (std::abs(term) < 1e-17) break;
  }
  return std::sqrt(std::numbers::pi / (2 * x)) * sum;
}

double unscaled_k(int order, double x) {
  if (!(x > 0) || std::isinf(x)) return scaled_k(order, x);
  return x <= kFar ? std::cyl_bessel_k(static_cast<double>(order), x) : scaled_k(order, x) * std::exp(-x);
}

/// By Bessel functions of order 1/3; far to the left by the wave that they become.
double airy(double x) {
  constexpr double kVanishes = 104, kWave = 1e4;
  if (!std::isfinite(x)) return kNaN;
  const double size = std::abs(x), z = 2.0 / 3 * size * std::sqrt(size);
  if (x > kVanishes) return 0;
  if (size < 1e-9) return 0.35502805388781723926 - 0.25881940379280679840 * x;
  if (x > 0) return std::sqrt(x / 3) / std::numbers::pi * std::cyl_bessel_k(1.0 / 3, z);
  if (size > kWave)
    return std::sin(z + std::numbers::pi / 4) / (std::sqrt(std::numbers::pi) * std::sqrt(std::sqrt(size)));
  const double j = std::cyl_bessel_j(1.0 / 3, z), y = std::cyl_neumann(1.0 / 3, z);
  return std::sqrt(size) / 3 * (1.5 * j - std::numbers::sqrt3 / 2 * y);
}

}  // namespace

double bessel_function(double x, int kind) {
  if (std::isnan(x)) return x;
  switch (kind) {
    case 0: return std::isinf(x) ? kNaN : ::j0(x);
    case 1: return std::isinf(x) ? kNaN : ::j1(x);
    case 2: return x < 0 || std::isinf(x) ? kNaN : ::y0(x);
    case 3: return x < 0 || std::isinf(x) ? kNaN : ::y1(x);
    case 4: return unscaled_k(0, x);
    case 5: return unscaled_k(1, x);
    case 6: return scaled_k(0, x);
    case 7: return scaled_k(1, x);
    default: return airy(x);
  }
}

}  // namespace terra::cpu
