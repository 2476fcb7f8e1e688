// Orthogonal polynomials by their recurrences.
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/cpu/special_functions.h"

namespace terra::cpu {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Chebyshev's polynomials of higher degrees are computed as what they are of an angle.
constexpr int64_t kLongRecurrence = 4096;
/// Others have no short way: beyond that many steps they are left undone.
constexpr int64_t kMostSteps = 1 << 20;

/// The kinds in the order that engine/ops/polynomials.cpp names them.
enum Kind { T, U, V, W, ShiftedT, ShiftedU, ShiftedV, ShiftedW, H, He, L, P };

/// Of x = cos t, or cosh t for |x| > 1: T = cos nt, U = sin (n + 1)t / sin t, V = cos (n + 1/2)t / cos t/2 and
/// W = sin (n + 1/2)t / sin t/2. Of -x: T and U change their sign for odd n, V and W also change places.
double chebyshev_of_angle(double x, double n, int kind) {
  const double sign = x < 0 && std::fmod(n, 2) != 0 ? -1 : 1, size = std::abs(x);
  if (x < 0 && kind >= V) kind = kind == V ? W : V;
  const bool turns = size <= 1;
  const double t = turns ? std::acos(size) : std::acosh(size);
  const auto even = [turns](double a) { return turns ? std::cos(a) : std::cosh(a); };
  const auto ratio = [turns](double a, double b) {
    return b == 0 ? 0.0 : turns ? std::sin(a) / std::sin(b) : std::sinh(a) / std::sinh(b);
  };
  if (kind == T) return sign * even(n * t);
  if (kind == U) return sign * (t == 0 ? n + 1 : ratio((n + 1) * t, t));
  if (kind == V) return sign * even((n + 0.5) * t) / even(0.5 * t);
  return sign * (t == 0 ? 2 * n + 1 : ratio((n + 0.5) * t, 0.5 * t));
}

}  // namespace

double orthogonal_polynomial(double x, double degree, int kind) {
  if (!std::isfinite(degree)) return 0;  // no degree, as a negative one
  if (std::isnan(x)) return kNaN;
  if (kind >= ShiftedT && kind <= ShiftedW) {
    x = 2 * x - 1;
    kind -= ShiftedT;
  }
  const double n = std::trunc(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  if (n > (kind <= W ? kLongRecurrence : kMostSteps)) return kind <= W ? chebyshev_of_angle(x, n, kind) : kNaN;
  const double first[] = {x, 2 * x, 2 * x - 1, 2 * x + 1, 0, 0, 0, 0, 2 * x, x, 1 - x, x};
  double before = 1, value = first[kind];
  for (double k = 2; k <= n && !std::isnan(value); k += 1) {
    const double next = kind <= W    ? 2 * x * value - before
                        : kind == H  ? 2 * (x * value - (k - 1) * before)
                        : kind == He ? x * value - (k - 1) * before
                        : kind == L  ? ((2 * k - 1 - x) * value - (k - 1) * before) / k
                                     : ((2 * k - 1) * x * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  return value;
}

}  // namespace terra::cpu
