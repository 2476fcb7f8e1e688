// What orthogonal polynomials mean: three terms of a recurrence each.
#include <cmath>

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

}  // namespace

double orthogonal_polynomial(double x, double n, int kind) {
  const Recurrence& r = kRecurrences[kind];
  if (!std::isfinite(n) || std::trunc(n) < 0) return 0.0;
  if (std::isnan(x)) return x;
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
