#include "engine/ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/composed.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/real_function.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"

namespace terra::ops {
namespace {

constexpr double kHalfSqrtPi = 0.5 / std::numbers::inv_sqrtpi;

// ---- gradients ------------------------------------------------------------------------------------------------------
void lgamma_gradient(Backward& b) { b.set(0, b.grad() * digamma(b.in(0))); }
void digamma_gradient(Backward& b) { b.set(0, b.grad() * polygamma(1, b.in(0))); }
void refuse(const Backward& b, int param, std::string_view what) {
  check_kind(!b.needs(param), ErrorKind::NotImplementedError, "the derivative for '{}' is not implemented.", what);
}
void zeta_shape(Inference& f) {
  rules::check_any_tensor(f);
  rules::elementwise(f);
}
void zeta_gradient(Backward& b) {
  refuse(b, 0, "zeta");
  if (b.needs(1)) b.set(1, b.grad() * (-b.in(0) * special_zeta(b.in(0) + 1, b.in(1))));
}
/// d P(a, x) / dx, the density of a gamma variable.
Tensor gamma_density(const Tensor& a, const Tensor& x) { return exp((a - 1) * log(x) - x - lgamma(a)); }
void igamma_gradient(Backward& b) {
  refuse(b, 0, "igamma: input");
  if (b.needs(1)) b.set(1, b.grad() * gamma_density(b.in(0), b.in(1)));
}
void igammac_gradient(Backward& b) {
  refuse(b, 0, "igammac: input");
  if (b.needs(1)) b.set(1, -b.grad() * gamma_density(b.in(0), b.in(1)));
}
void erfinv_gradient(Backward& b) { b.set(0, b.grad() * (kHalfSqrtPi * exp(b.out() * b.out()))); }
void ndtri_gradient(Backward& b) {
  b.set(0, b.grad() * (std::sqrt(2 * std::numbers::pi) * exp(0.5 * (b.out() * b.out()))));
}
void erfcx_gradient(Backward& b) { b.set(0, b.grad() * (2 * b.in(0) * b.out() - 2 * std::numbers::inv_sqrtpi)); }
void i0_gradient(Backward& b) { b.set(0, b.grad() * special_i1(b.in(0))); }
void i0e_gradient(Backward& b) { b.set(0, b.grad() * (special_i1e(b.in(0)) - sign(b.in(0)) * b.out())); }
/// I1' = I0 - I1 / x, whose limit at 0 is 1/2.
void i1_gradient(Backward& b) {
  const Tensor x = b.in(0), zero = eq(x, 0);
  b.set(0, b.grad() * where(zero, 0.5, i0(x) - b.out() / where(zero, 1.0, x)));
}
void i1e_gradient(Backward& b) {
  const Tensor x = b.in(0), zero = eq(x, 0), safe = where(zero, 1.0, x);
  b.set(0, b.grad() * where(zero, 0.5, special_i0e(x) - b.out() * (sign(safe) + reciprocal(safe))));
}

// ---- composites -----------------------------------------------------------------------------------------------------
/// digamma's n-th derivative is (-1)^(n+1) n! zeta(n + 1, x).
Tensor polygamma_at(int64_t n, const Tensor& x) {
  check(n >= 0, "polygamma(n, x) does not support negative n.");
  if (n == 0) return digamma(x);
  const double factor = (n % 2 == 1 ? 1 : -1) * std::tgamma(static_cast<double>(n) + 1);
  const Tensor real = is_floating(x.dtype()) ? x : to_dtype(x, default_dtype());
  const Tensor sum = special_zeta(full(Dims{}, static_cast<double>(n + 1), real.dtype()), real);
  if (n > 1) return factor * sum;
  // Alone among them it has a value at infinity.
  const Tensor finite = where(isinf(real), std::numeric_limits<double>::quiet_NaN(), sum);
  return where(eq(real, std::numeric_limits<double>::infinity()), 0.0, finite);
}
void polygamma_of(Composition& c) { c.result(polygamma_at(c.integer(0), c.tensor(1))); }
void polygamma_method_of(Composition& c) { c.result(polygamma_at(c.integer(1), c.tensor(0))); }
/// log(x / (1 - x)); with eps, of x brought into [eps, 1 - eps].
void logit_of(Composition& c) {
  Tensor x = c.tensor(0);
  if (!is_floating(x.dtype())) x = to_dtype(x, default_dtype());
  if (c.has(1)) {  // eps may be the larger one, and is asked first
    const double low = c.real(1), high = 1 - low;
    x = low <= high ? clamp(x, low, high) : where(lt(x, low), low, where(gt(x, high), high, x));
  }
  c.result(log(x / (1 - x)));
}
/// By erfcx on the left, where the distribution function itself vanishes. Each side is kept off the other's poles, so
/// that gradients are numbers.
void log_ndtr_of(Composition& c) {
  Tensor x = c.tensor(0);
  if (!is_floating(x.dtype())) x = to_dtype(x, default_dtype());
  const Tensor left = lt(x, -1);
  const Tensor far = where(left, x, -1.0), near = where(left, -1.0, x);
  const Tensor below = log(0.5 * special_erfcx(far * -std::numbers::sqrt2 / 2)) - 0.5 * (far * far);
  c.result(where(left, below, log1p(-0.5 * erfc(near * (std::numbers::sqrt2 / 2)))));
}

void ndtr_of(Composition& c) { c.result(0.5 * erfc(c.tensor(0) * -std::numbers::sqrt2 / 2)); }
/// -x log x; 0 at 0, -inf below.
void entr_of(Composition& c) {
  const Tensor x = c.tensor(0), inside = where(gt(x, 0), x, 1.0);
  const Tensor value = where(ge(x, 0), -inside * log(inside), -std::numeric_limits<double>::infinity());
  c.result(where(isnan(x), x, value));
}
/// x log(1 + y), 0 where x is 0 (unless y is NaN): by itself where the logarithm is finite.
void xlog1py_of(Composition& c) {
  check_kind(c.arg(0).is_tensor() || c.arg(1).is_tensor(), ErrorKind::TypeError,
             "special_xlog1py() received an invalid combination of arguments: at least one of the two operands must be "
             "a Tensor");
  const DType dtype = c.tensor(c.arg(0).is_tensor() ? 0 : 1).dtype();
  const auto operand = [&](int i) { return c.arg(i).is_tensor() ? c.tensor(i) : full(Dims{}, c.arg(i), dtype); };
  const Tensor x = operand(0), y = operand(1);
  const Tensor empty = logical_and(eq(x, 0), logical_or(le(y, -1), isinf(y)));
  c.result(where(empty, 0.0, x * log1p(where(empty, 0.0, y))));
}

// ---- records --------------------------------------------------------------------------------------------------------
OpRecord of_two(RealFunction f) {
  OpRecord record = real_function(std::move(f));
  record.signature = "(Tensor self, Tensor other) -> Tensor";
  return record;
}

const std::vector<Sample> kPositive = {{"rand(3, 4) * 5 + 0.2"}, {"rand(2, 3).t() + 0.5"}, {"rand(()) + 1"}};
const std::vector<Sample> kReals = {{"randn(3, 4) * 3"}, {"randn(2, 1, 3).transpose(0, 2)"}, {"randn(())"}};
const std::vector<Sample> kInside = {{"rand(3, 4) * 1.6 - 0.8"}, {"rand(()) * 0.5"}};
const std::vector<Sample> kUnit = {{"rand(3, 4) * 0.8 + 0.1"}, {"rand(()) * 0.5 + 0.2"}};

/// PyTorch's torch.special.x: of real numbers, integers as floats, and written in other ops.
OpRecord special_composed(std::string_view name, std::string_view signature, std::string_view doc,
                          std::string_view example, CompositeRule rule, std::string_view grad_fn,
                          std::vector<Sample> samples) {
  OpRecord record = composed(name, signature, doc, example, rule, std::move(samples), kFunction, grad_fn);
  record.promotion = Promotion::Floating;
  return record;
}

}  // namespace

const Op lgamma{real_function({"lgamma", "The logarithm of the absolute value of the gamma function.",
                               "terra.lgamma(terra.tensor([5.0]))", lgamma_gradient, saves({0}), kPositive})};
const Op digamma{real_function({"digamma", "The derivative of lgamma.", "terra.digamma(terra.tensor([1.0]))",
                                digamma_gradient, saves({0}), kPositive})};
const Op polygamma{{.name = "polygamma",
                    .signature = "(int n, Tensor self) -> Tensor",
                    .doc = "The n-th derivative of digamma.",
                    .example = "terra.polygamma(1, terra.tensor([1.0]))",
                    .flags = kFunction,
                    .composite = polygamma_of,
                    .grad_fn = "PolygammaBackward0",
                    .samples = {{"1, rand(3, 4) + 0.5"}, {"2, rand(3) + 0.5"}, {"0, rand(3) + 0.5"}}}};
const Op polygamma_method{{.name = "polygamma_method",
                           .signature = "(Tensor self, int n) -> Tensor",
                           .doc = "The n-th derivative of digamma.",
                           .example = "",
                           .flags = 0,
                           .composite = polygamma_method_of,
                           .grad_fn = "PolygammaBackward0",
                           .samples = {{"rand(3, 4) + 0.5, 1"}}}};
const Op special_ndtr{special_composed("special_ndtr", "(Tensor self) -> Tensor", "The normal distribution function.",
                                       "terra.special.ndtr(terra.zeros(1))", ndtr_of, "MulBackward1",
                                       {{"randn(3, 4)"}, {"randint(-2, 3, (3,))", "int", false}})};
const Op special_entr{special_composed(
    "special_entr", "(Tensor self) -> Tensor", "-self * log(self); 0 at 0, -inf for negative numbers.",
    "terra.special.entr(terra.tensor([0.5]))", entr_of, "SpecialEntrBackward0", {{"rand(3, 4) + 0.1"}})};
const Op special_xlog1py{special_composed(
    "special_xlog1py", "(Tensor|Number self, Tensor|Number other) -> Tensor",
    "self * log(1 + other), 0 where self is 0.", "terra.special.xlog1py(terra.tensor([2.0]), terra.tensor([1.0]))",
    xlog1py_of, "SpecialXlog1PyBackward0", {{"randn(3, 4), rand(4)"}, {"randn(3), 0.5"}, {"2, rand(3)"}})};
const Op special_zeta{{.name = "special_zeta",
                       .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                       .doc = "Hurwitz's zeta function: the sum of (other + n) ** -self over n = 0, 1, ...",
                       .example = "terra.special_zeta(terra.tensor([2.0]), terra.tensor([1.0]))",
                       .flags = kFunction | kElementwise,
                       .promotion = Promotion::Floating,
                       .shape = zeta_shape,
                       .gradient = zeta_gradient,
                       .saved = saves({0, 1}),
                       .samples = {{"rand(3, 4) + 1.5, rand(4) + 0.5", "float", false}}}};
const Op igamma{of_two({"igamma",
                        "The regularized lower incomplete gamma function P(self, other).",
                        "terra.igamma(terra.tensor([1.0]), terra.tensor([1.0]))",
                        igamma_gradient,
                        saves({0, 1}),
                        {{"rand(3, 4) * 4 + 0.5, rand(4) * 5 + 0.1", "float", false}}})};
const Op igammac{of_two({"igammac",
                         "The regularized upper incomplete gamma function Q(self, other).",
                         "terra.igammac(terra.tensor([1.0]), terra.tensor([1.0]))",
                         igammac_gradient,
                         saves({0, 1}),
                         {{"rand(3, 4) * 4 + 0.5, rand(4) * 5 + 0.1", "float", false}}})};
const Op erfinv{real_function({"erfinv", "The number whose error function is each element.",
                               "terra.erfinv(terra.tensor([0.5]))", erfinv_gradient, saves_result(), kInside})};
const Op special_ndtri{
    real_function({"special_ndtri", "The number whose normal distribution function is each element.",
                   "terra.special_ndtri(terra.tensor([0.5]))", ndtri_gradient, saves_result(), kUnit, "", kFunction})};
const Op special_erfcx{real_function({"special_erfcx",
                                      "exp(x * x) * erfc(x) of each element.",
                                      "terra.special_erfcx(terra.zeros(2))",
                                      erfcx_gradient,
                                      saves({0}) | saves_result(),
                                      {{"rand(3, 4) * 6 - 1"}, {"rand(())"}},
                                      "",
                                      kFunction})};
const Op special_log_ndtr{{.name = "special_log_ndtr",
                           .signature = "(Tensor self) -> Tensor",
                           .doc = "The logarithm of the normal distribution function of each element.",
                           .example = "terra.special_log_ndtr(terra.zeros(2))",
                           .flags = kFunction,
                           .composite = log_ndtr_of,
                           .grad_fn = "SpecialLogNdtrBackward0",
                           .samples = {{"randn(3, 4) * 3"}, {"randn(())"}}}};
const Op logit{{.name = "logit",
                .signature = "(Tensor self, float? eps=None) -> Tensor",
                .doc = "log(x / (1 - x)), the inverse of sigmoid.",
                .example = "terra.logit(terra.tensor([0.5]))",
                .flags = kVisibleInPlace,
                .composite = logit_of,
                .grad_fn = "LogitBackward0",
                .samples = {{"rand(3, 4) * 0.8 + 0.1"}, {"rand(3, 4), 0.2"}}}};
const Op i0{real_function({"i0", "The modified Bessel function of the first kind, of order 0.",
                           "terra.i0(terra.zeros(2))", i0_gradient, saves({0}), kReals})};
const Op special_i0e{real_function({"special_i0e", "exp(-|x|) times the modified Bessel function of order 0.",
                                    "terra.special_i0e(terra.zeros(2))", i0e_gradient, saves({0}) | saves_result(),
                                    kReals, "", kFunction})};
const Op special_i1{real_function({"special_i1", "The modified Bessel function of the first kind, of order 1.",
                                   "terra.special_i1(terra.zeros(2))", i1_gradient, saves({0}) | saves_result(), kReals,
                                   "", kFunction})};
const Op special_i1e{real_function({"special_i1e", "exp(-|x|) times the modified Bessel function of order 1.",
                                    "terra.special_i1e(terra.zeros(2))", i1e_gradient, saves({0}) | saves_result(),
                                    kReals, "", kFunction})};

}  // namespace terra::ops
