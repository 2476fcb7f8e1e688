// What orthogonal polynomials mean: three terms of a recurrence each.
#include <cmath>
#include <limits>

#include "kernels/reference/special_functions.h"

namespace terra::reference {

namespace {

/// p_1 = a x + b, and p_k = (c x + d) p_{k-1} - e p_{k-2} with c, d, e for each k.
struct Step {
  double c, d, e;
};
struct Recurrence {
  double a, b;
  Step (*step)(double k);
};
constexpr auto kChebyshev = [](double) { return Step{2, 0, 1}; };
constexpr auto kShifted = [](double) { return Step{4, -2, 1}; };
constexpr Recurrence kRecurrences[] = {
    {1, 0, kChebyshev},
    {2, 0, kChebyshev},
    {2, -1, kChebyshev},
    {2, 1, kChebyshev},
    {2, -1, kShifted},
    {4, -2, kShifted},
    {4, -3, kShifted},
    {4, -1, kShifted},
    {2, 0,
     [](double k) {
       return Step{2, 0, 2 * (k - 1)};
     }},
    {1, 0,
     [](double k) {
       return Step{1, 0, k - 1};
     }},
    {-1, 1,
     [](double k) {
       return Step{-1 / k, (2 * k - 1) / k, (k - 1) / k};
     }},
    {1, 0,
     [](double k) {
       return Step{(2 * k - 1) / k, 0, (k - 1) / k};
     }},
};

/// Degrees that no recurrence reaches in a time that anybody waits for.
constexpr double kLongest = 1 << 20;

/// Chebyshev's polynomial of degree n (T, U, V, W: kinds 0 to 3) as what it is of an angle t with cos t = |x|, or
/// cosh t = |x|: T is cos nt, and the others are quotients. Of -x they change signs, V and W places.
double of_angle(double x, double n, int kind) {
  const bool mirrored = x<0, odd = std::fmod(n, 2) != 0, wide = std::abs(x)> 1;
  if (mirrored && kind >= 2) kind = 5 - kind;
  const double t = wide ? std::acosh(std::abs(x)) : std::acos(std::abs(x)), sign = mirrored && odd ? -1 : 1;
  const auto even = [wide](double a) { return wide ? std::cosh(a) : std::cos(a); };
  const auto sines = [wide](double a, double b) {
    return wide ? std::sinh(a) / std::sinh(b) : std::sin(a) / std::sin(b);
  };
  switch (kind) {
    case 0: return sign * even(n * t);
    case 1: return sign * (t == 0 ? n + 1 : sines((n + 1) * t, t));
    case 2: return sign * even((n + 0.5) * t) / even(0.5 * t);
    default: return sign * (t == 0 ? 2 * n + 1 : sines((n + 0.5) * t, 0.5 * t));
  }
}

}  // namespace

double orthogonal_polynomial(double x, double n, int kind) {
  const Recurrence& r = kRecurrences[kind];
  if (!std::isfinite(n) || std::trunc(n) < 0) return 0.0;
  if (std::isnan(x)) return x;
  if (n > kLongest) {
    if (kind >= 8) return std::numeric_limits<double>::quiet_NaN();
    return of_angle(kind >= 4 ? 2 * x - 1 : x, std::trunc(n), kind % 4);
  }
  double before = 0, value = 1;
  for (double k = 1; k <= n; ++k) {
    const Step s = r.step(k);
    const double next = k == 1 ? r.a * x + r.b : (s.c * x + s.d) * value - s.e * before;
    before = value;
    value = next;
  }
  return value;
}

}  // namespace terra::reference
