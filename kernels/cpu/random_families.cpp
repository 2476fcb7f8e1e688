#include "kernels/cpu/random_families.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/random.h"

namespace terra::random {
namespace {

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double standard_normal(RandomState& s) {
  double value;
  normal(s, &value, 1, 0.0, 1.0, false);
  return value;
}

/// What transformed rejection proposes: k = floor((2 a / (0.5 - |u|) + b) u + c).
struct Proposal {
  double u, v, us, k;
};
Proposal propose(RandomState& s, double a, double b, double c) {
  const double u = uniform53(s) - 0.5, v = uniform53(s), us = 0.5 - std::abs(u);
  return {u, v, us, std::floor((2 * a / us + b) * u + c)};
}

/// p at most 0.5 and few successes expected: jumps from success to success.
double binomial_by_gaps(RandomState& s, double count, double p) {
  const double log_rest = std::log1p(-p);
  double successes = 0;
  for (double trials = 0;; ++successes) {
    trials += std::ceil(std::log(uniform53(s)) / log_rest);
    if (!(trials <= count)) return successes;
  }
}

double binomial_by_rejection(RandomState& s, double count, double p) {
  const double deviation = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double alpha = (2.83 + 5.1 / b) * deviation, v_r = 0.92 - 4.2 / b, mode = std::floor((count + 1) * p);
  const double at_mode = log_gamma(mode + 1) + log_gamma(count - mode + 1);
  for (;;) {
    const Proposal t = propose(s, a, b, c);
    if (t.us >= 0.07 && t.v <= v_r) return t.k;
    if (t.k < 0 || t.k > count) continue;
    const double bound =
        at_mode - log_gamma(t.k + 1) - log_gamma(count - t.k + 1) + (t.k - mode) * std::log(p / (1 - p));
    if (std::log(t.v * alpha / (a / (t.us * t.us) + b)) <= bound) return t.k;
  }
}

/// The integral over w > 0 of a smooth function that falls at least exponentially, on the scale given: w =
/// scale exp(t - exp(-t)) spreads it over the whole line, where the trapezoidal rule is nearly exact.
template <class F>
double integral(double scale, const F& f) {
  constexpr double kStep = 0.09;
  double sum = 0;
  for (double t = -3.8; t < 6.5; t += kStep) {
    const double fall = std::exp(-t), w = scale * std::exp(t - fall);
    const double value = f(w) * w * (1 + fall);
    if (std::isfinite(value)) sum += value;
  }
  return sum * kStep;
}

double digamma(double x) {
  double result = 0;
  for (; x < 12; x += 1) result -= 1 / x;
  const double s = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s / 132))));
}

double width_of(double a) { return a < 1 ? 1 / a : 1 / std::sqrt(a); }

}  // namespace

double standard_gamma(RandomState& s, double alpha) {
  if (alpha == 0 || alpha == std::numeric_limits<double>::infinity()) return alpha;
  if (!(alpha > 0)) return std::numeric_limits<double>::quiet_NaN();
  double scale = 1;
  if (alpha < 1) {
    scale = std::pow(1 - uniform53(s), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = standard_normal(s);
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - uniform53(s), square = x * x;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

double poisson(RandomState& s, double rate) {
  if (rate == 0) return 0;
  if (rate < 10) {
    const double end = std::exp(-rate);
    double product = uniform53(s), count = 0;
    for (; product > end; ++count) product *= uniform53(s);
    return count;
  }
  const double root = std::sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const Proposal t = propose(s, a, b, rate + 0.43);
    if (t.us >= 0.07 && t.v <= v_r) return t.k;
    if (t.k < 0 || (t.us < 0.013 && t.v > t.us)) continue;
    const double left = std::log(t.v) + std::log(inverse_alpha) - std::log(a / (t.us * t.us) + b);
    if (left <= -rate + t.k * std::log(rate) - log_gamma(t.k + 1)) return t.k;
  }
}

double binomial(RandomState& s, double count, double p) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (std::isnan(count) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  const double q = p <= 0.5 ? p : 1 - p;
  const double successes = count * q >= 10 ? binomial_by_rejection(s, count, q) : binomial_by_gaps(s, count, q);
  return p <= 0.5 ? successes : count - successes;
}

double geometric(RandomState& s, double p) { return std::ceil(std::log(uniform53(s)) / std::log1p(-p)); }

double cauchy(RandomState& s, double median, double sigma) {
  return median + sigma * std::tan(std::numbers::pi * (uniform53(s) - 0.5));
}

double log_normal(RandomState& s, double mean, double deviation) {
  return std::exp(standard_normal(s) * deviation + mean);
}

/// The derivative of P is the integral of density(t) (log t - digamma(alpha)) from 0 to x, and minus that from x on;
/// the side taken is the one without the mode, t = x e^-w or x e^w.
double standard_gamma_slope(double alpha, double x) {
  if (!(alpha > 0 && x > 0)) return x == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
  const double shift = std::log(x) - digamma(alpha);
  if (x <= alpha) {
    return -x *
           integral(width_of(alpha), [&](double w) { return std::exp(-alpha * w - x * std::expm1(-w)) * (shift - w); });
  }
  return x * integral(1 / std::sqrt(x) < 1 ? 1 / std::sqrt(x) : 1 / x,
                      [&](double w) { return std::exp(alpha * w - x * std::expm1(w)) * (shift + w); });
}

double dirichlet_slope(double x, double alpha, double total) {
  if (!(x >= 0 && x <= 1 && alpha > 0 && total > alpha)) return std::numeric_limits<double>::quiet_NaN();
  const double beta = total - alpha, shift = digamma(total) - digamma(alpha);
  if (x <= alpha / total) {
    const double slope = -x * integral(width_of(alpha), [&](double w) {
      const double rest = (beta - 1) * std::log1p(x * -std::expm1(-w) / (1 - x));
      return std::exp(-alpha * w + rest) * (std::log(x) - w + shift);
    });
    return slope / (1 - x);
  }
  return integral(width_of(beta), [&](double w) {  // (1 - x) dw / (1 - x)
    const double t = 1 - (1 - x) * std::exp(-w);
    return std::exp(-beta * w + (alpha - 1) * std::log(t / x)) * (std::log(t) + shift);
  });
}

}  // namespace terra::random
