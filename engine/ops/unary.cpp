#include "engine/ops/unary.h"

#include <cmath>
#include <numbers>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/real_function.h"
#include "engine/ops/rules.h"

namespace terra::ops {
namespace {

constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;

// ---- gradients: x is the operand, y the result, g the gradient of y -------------------------------------------------
// Of complex functions x and y are conjugates: the gradient is g conj(f'(x)), and conj(f'(x)) = f'(conj(x)).
Tensor x(Backward& b) { return conjugate(b.in(0)); }
Tensor y(Backward& b) { return conjugate(b.out()); }
Tensor g(Backward& b) { return b.grad(); }

void exp_gradient(Backward& b) { b.set(0, g(b) * y(b)); }
void expm1_gradient(Backward& b) { b.set(0, g(b) * (y(b) + 1)); }
void log_gradient(Backward& b) { b.set(0, g(b) / x(b)); }
void log2_gradient(Backward& b) { b.set(0, g(b) / (x(b) * std::numbers::ln2)); }
void log10_gradient(Backward& b) { b.set(0, g(b) / (x(b) * std::numbers::ln10)); }
void log1p_gradient(Backward& b) { b.set(0, g(b) / (x(b) + 1)); }
void sqrt_gradient(Backward& b) { b.set(0, g(b) / (2 * y(b))); }
void rsqrt_gradient(Backward& b) { b.set(0, -0.5 * g(b) * (y(b) * y(b) * y(b))); }
void reciprocal_gradient(Backward& b) { b.set(0, -g(b) * (y(b) * y(b))); }
void sin_gradient(Backward& b) { b.set(0, g(b) * cos(x(b))); }
void cos_gradient(Backward& b) { b.set(0, -g(b) * sin(x(b))); }
void tan_gradient(Backward& b) { b.set(0, g(b) * (1 + y(b) * y(b))); }
void asin_gradient(Backward& b) { b.set(0, g(b) * rsqrt(1 - x(b) * x(b))); }
void acos_gradient(Backward& b) { b.set(0, -g(b) * rsqrt(1 - x(b) * x(b))); }
void atan_gradient(Backward& b) { b.set(0, g(b) / (x(b) * x(b) + 1)); }
void sinh_gradient(Backward& b) { b.set(0, g(b) * cosh(x(b))); }
void cosh_gradient(Backward& b) { b.set(0, g(b) * sinh(x(b))); }
void tanh_gradient(Backward& b) { b.set(0, tanh_backward(g(b), y(b))); }
void sigmoid_gradient(Backward& b) { b.set(0, sigmoid_backward(g(b), y(b))); }
void erf_gradient(Backward& b) { b.set(0, g(b) * (kTwoOverSqrtPi * exp(-(x(b) * x(b))))); }
void erfc_gradient(Backward& b) { b.set(0, g(b) * (-kTwoOverSqrtPi * exp(-(x(b) * x(b))))); }
void neg_gradient(Backward& b) { b.set(0, -g(b)); }
void abs_gradient(Backward& b) { b.set(0, g(b) * (is_complex(b.dtype(0)) ? sgn : sign)(b.in(0))); }
void zero_gradient(Backward& b) { b.set(0, zeros_like(g(b))); }

/// r = g (1 - y y)
void tanh_backward_gradient(Backward& b) {
  const Tensor gg = b.grad();
  if (b.needs(0)) b.set(0, tanh_backward(gg, conjugate(b.in(1))));
  if (b.needs(1)) b.set(1, gg * conjugate(-2 * b.in(0) * b.in(1)));
}
/// r = g y (1 - y)
void sigmoid_backward_gradient(Backward& b) {
  const Tensor gg = b.grad();
  if (b.needs(0)) b.set(0, sigmoid_backward(gg, conjugate(b.in(1))));
  if (b.needs(1)) b.set(1, gg * conjugate(b.in(0) * (1 - 2 * b.in(1))));
}

// ---- shapes ---------------------------------------------------------------------------------------------------------
void neg_shape(Inference& f) {
  check_kind(
      f.dtype(0) != DType::Bool, ErrorKind::NotImplementedError,
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
      "`~` or `logical_not()` operator instead.");
  rules::elementwise(f);
}

/// The absolute values of complex numbers are real.
void abs_shape(Inference& f) { f.result(real_dtype_of(f.common), Dims(f.sizes(0))); }

// ---- composites -----------------------------------------------------------------------------------------------------
void square_of(Composition& c) {
  const Tensor x = c.tensor(0).dtype() == DType::Bool ? to_dtype(c.tensor(0), DType::I64) : c.tensor(0);
  c.result(x * x);
}
void frac_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check_kind(is_floating(x.dtype()), ErrorKind::NotImplementedError, "\"frac_cpu\" not implemented for '{}'",
             scalar_type_name(x.dtype()));
  c.result(x - trunc(x));
}
void positive_of(Composition& c) {
  check_kind(c.tensor(0).dtype() != DType::Bool, ErrorKind::NotImplementedError,
             "The `+` operator, on a bool tensor is not supported.");
  c.result(c.tensor(0));
}
/// As PyTorch: by the power of ten in the precision of the elements (16-bit ones in float32), infinite ones included.
void round_decimals_of(Composition& c) {
  Tensor x = c.tensor(0);
  check_kind(is_floating(x.dtype()), ErrorKind::NotImplementedError, "\"round_cpu\" not implemented for '{}'",
             scalar_type_name(x.dtype()));
  const int64_t decimals = c.integer(1);
  if (decimals == 0) return c.result(round(x));
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  const DType dtype = x.dtype();
  if (is_half(dtype)) x = to_dtype(x, DType::F32);
  const Tensor rounded = decimals > 0 ? round(x * power) / power : round(x / power) * power;
  c.result(is_half(dtype) ? to_dtype(rounded, dtype) : rounded);
}
void deg2rad_of(Composition& c) { c.result(c.tensor(0) * (std::numbers::pi / 180)); }
void rad2deg_of(Composition& c) { c.result(c.tensor(0) * (180 / std::numbers::pi)); }

/// As integers it takes small positive ones, too.
OpRecord on_reals(RealFunction f) {
  f.samples.push_back({"randint(1, 5, (3,))", "int", false});
  return real_function(std::move(f));
}

/// A function of complex numbers as well.
OpRecord analytic(RealFunction f) {
  f.where |= kComplex;
  f.samples.push_back({"crandn(3, 4)", "complex"});
  return on_reals(std::move(f));
}

/// A function that keeps the dtype of its operand.
struct Kept {
  std::string_view name, doc, example;
  ShapeRule shape;
  GradientRule gradient;
  uint32_t saved = 0;
  std::vector<Sample> samples = {{"randn(3, 4)"}, {"randn(5)[::2]"}, {"randint(-4, 5, (4, 2))", "int", false}};
  std::string_view aliases = "";
  uint32_t takes = 0;  ///< kComplex, kBarebones, or nothing
};

OpRecord keeping_dtype(Kept f) {
  if (f.takes & kComplex) f.samples.push_back({"crandn(3, 4)", "complex"});
  return {.name = f.name,
          .signature = "(Tensor self) -> Tensor",
          .doc = f.doc,
          .example = f.example,
          .flags = kElementwiseMath | kCheap | f.takes,
          .promotion = Promotion::Common,
          .shape = f.shape,
          .gradient = f.gradient,
          .saved = f.saved,
          .aliases = f.aliases,
          .samples = std::move(f.samples)};
}

OpRecord composed(std::string_view name, std::string_view doc, std::string_view example, CompositeRule rule,
                  std::string_view grad_fn) {
  return {.name = name,
          .signature = "(Tensor self) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kVisibleInPlace,
          .composite = rule,
          .grad_fn = grad_fn,
          .samples = {{"randn(3, 4)"}, {"randn(0, 2)"}}};
}

OpRecord from_result(std::string_view name, std::string_view doc, GradientRule gradient) {
  return {.name = name,
          .signature = "(Tensor grad, Tensor out) -> Tensor",
          .doc = doc,
          .example = "",
          .flags = kElementwise | kComplex | kCheap,
          .promotion = Promotion::Common,
          .shape = rules::elementwise,
          .gradient = gradient,
          .saved = saves({0, 1}),
          .samples = {{"randn(3, 4), rand(3, 4)"}, {"crandn(3, 4), crandn(3, 4)", "complex"}}};
}

const std::vector<Sample> kPositive = {{"rand(3, 4) + 0.2"}, {"rand(2, 3).t() + 0.5"}, {"rand(()) + 1"}};
const std::vector<Sample> kUnitInterval = {{"rand(3, 4) * 1.6 - 0.8"}, {"rand(()) * 0.5"}};

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op exp{
    analytic({"exp", "e to the power of each element.", "terra.exp(terra.zeros(2))", exp_gradient, saves_result()})};
const Op expm1{analytic({"expm1", "e to the power of each element, minus 1, exact near 0.",
                         "terra.expm1(terra.tensor([1e-8]))", expm1_gradient, saves_result()})};
const Op log{analytic({"log", "The natural logarithm of each element.", "terra.log(terra.ones(2))", log_gradient,
                       saves({0}), kPositive})};
const Op log2{analytic({"log2", "The logarithm to base 2 of each element.", "terra.log2(terra.tensor([8.0]))",
                        log2_gradient, saves({0}), kPositive})};
const Op log10{analytic({"log10", "The logarithm to base 10 of each element.", "terra.log10(terra.tensor([100.0]))",
                         log10_gradient, saves({0}), kPositive})};
const Op log1p{analytic({"log1p", "The natural logarithm of 1 + each element, exact near 0.",
                         "terra.log1p(terra.tensor([1e-8]))", log1p_gradient, saves({0}), kPositive})};
const Op sqrt{analytic({"sqrt", "The square root of each element.", "terra.sqrt(terra.tensor([9.0]))", sqrt_gradient,
                        saves_result(), kPositive})};
const Op rsqrt{analytic({"rsqrt", "1 over the square root of each element.", "terra.rsqrt(terra.tensor([4.0]))",
                         rsqrt_gradient, saves_result(), kPositive})};
const Op reciprocal{analytic({"reciprocal", "1 over each element.", "terra.reciprocal(terra.tensor([4.0]))",
                              reciprocal_gradient, saves_result(), kPositive})};
const Op sin{analytic({"sin", "The sine of each element.", "terra.sin(terra.zeros(2))", sin_gradient, saves({0})})};
const Op cos{analytic({"cos", "The cosine of each element.", "terra.cos(terra.zeros(2))", cos_gradient, saves({0})})};
const Op tan{analytic(
    {"tan", "The tangent of each element.", "terra.tan(terra.zeros(2))", tan_gradient, saves_result(), kUnitInterval})};
const Op asin{analytic({"asin", "The angle in [-pi/2, pi/2] whose sine is each element.",
                        "terra.asin(terra.tensor([1.0]))", asin_gradient, saves({0}), kUnitInterval, "arcsin"})};
const Op acos{analytic({"acos", "The angle in [0, pi] whose cosine is each element.", "terra.acos(terra.tensor([1.0]))",
                        acos_gradient, saves({0}), kUnitInterval, "arccos"})};
const Op atan{analytic({"atan", "The angle in (-pi/2, pi/2) whose tangent is each element.",
                        "terra.atan(terra.tensor([1.0]))", atan_gradient, saves({0}), kUnitInterval, "arctan"})};
const Op sinh{analytic(
    {"sinh", "The hyperbolic sine of each element.", "terra.sinh(terra.zeros(2))", sinh_gradient, saves({0})})};
const Op cosh{analytic(
    {"cosh", "The hyperbolic cosine of each element.", "terra.cosh(terra.zeros(2))", cosh_gradient, saves({0})})};
const Op tanh{analytic(
    {"tanh", "The hyperbolic tangent of each element.", "terra.tanh(terra.zeros(2))", tanh_gradient, saves_result()})};
const Op sigmoid{analytic({"sigmoid", "1 / (1 + exp(-x)) of each element.", "terra.sigmoid(terra.zeros(2))",
                           sigmoid_gradient, saves_result()})};
const Op erf{
    on_reals({"erf", "The error function of each element.", "terra.erf(terra.zeros(2))", erf_gradient, saves({0})})};
const Op erfc{on_reals(
    {"erfc", "1 minus the error function of each element.", "terra.erfc(terra.zeros(2))", erfc_gradient, saves({0})})};

const Op neg{keeping_dtype({.name = "neg",
                            .doc = "Minus each element.",
                            .example = "terra.neg(terra.ones(2))",
                            .shape = neg_shape,
                            .gradient = neg_gradient,
                            .aliases = "negative",
                            .takes = kComplex})};
const Op abs{keeping_dtype({.name = "abs",
                            .doc = "The absolute value of each element.",
                            .example = "terra.abs(terra.tensor([-1, 2]))",
                            .shape = abs_shape,
                            .gradient = abs_gradient,
                            .saved = saves({0}),
                            .aliases = "absolute",
                            .takes = kComplex})};
const Op sign{keeping_dtype({.name = "sign",
                             .doc = "-1, 0 or 1 as each element is negative, zero or positive.",
                             .example = "terra.sign(terra.tensor([-3.0, 0.0, 2.0]))",
                             .shape = rules::elementwise,
                             .gradient = zero_gradient})};
const Op floor{keeping_dtype({.name = "floor",
                              .doc = "The largest integer not above each element.",
                              .example = "terra.floor(terra.tensor([1.5, -1.5]))",
                              .shape = rules::elementwise,
                              .gradient = zero_gradient,
                              .takes = kBarebones})};
const Op ceil{keeping_dtype({.name = "ceil",
                             .doc = "The smallest integer not below each element.",
                             .example = "terra.ceil(terra.tensor([1.5, -1.5]))",
                             .shape = rules::elementwise,
                             .gradient = zero_gradient,
                             .takes = kBarebones})};
const Op round{keeping_dtype({.name = "round",
                              .doc = "The integer nearest to each element, the even one of two.",
                              .example = "terra.round(terra.tensor([0.5, 1.5]))",
                              .shape = rules::elementwise,
                              .gradient = zero_gradient,
                              .takes = kBarebones})};
const Op round_decimals{{.name = "round_decimals",
                         .signature = "(Tensor self, *, int decimals) -> Tensor",
                         .doc = "The number of that many decimals nearest to each element.",
                         .example = "",
                         .flags = kInPlace,
                         .composite = round_decimals_of,
                         .grad_fn = "RoundBackward1",
                         .samples = {{"randn(3, 4), decimals=1"}, {"randn(3, 4) * 99, decimals=-1"}}}};
const Op trunc{keeping_dtype({.name = "trunc",
                              .doc = "Each element without its fraction.",
                              .example = "terra.trunc(terra.tensor([1.5, -1.5]))",
                              .shape = rules::elementwise,
                              .gradient = zero_gradient,
                              .aliases = "fix",
                              .takes = kBarebones})};

const Op square{{.name = "square",
                 .signature = "(Tensor self) -> Tensor",
                 .doc = "Each element times itself.",
                 .example = "terra.square(terra.tensor([3.0]))",
                 .flags = kVisibleInPlace,
                 .composite = square_of,
                 .grad_fn = "PowBackward0",
                 .samples = {{"randn(3, 4)"}, {"randint(-4, 5, (4, 2))", "int", false}}}};
const Op frac{composed("frac", "The fraction of each element, with its sign.", "terra.frac(terra.tensor([1.5]))",
                       frac_of, "FracBackward0")};
const Op positive{{.name = "positive",
                   .signature = "(Tensor self) -> Tensor",
                   .doc = "The tensor itself.",
                   .example = "terra.positive(terra.ones(2))",
                   .flags = kVisible | kMayAlias,
                   .composite = positive_of,
                   .samples = {{"randn(3, 4)"}}}};
const Op deg2rad{
    composed("deg2rad", "Degrees as radians.", "terra.deg2rad(terra.tensor([180.0]))", deg2rad_of, "Deg2RadBackward0")};
const Op rad2deg{
    composed("rad2deg", "Radians as degrees.", "terra.rad2deg(terra.tensor([1.0]))", rad2deg_of, "Rad2DegBackward0")};

const Op tanh_backward{from_result("tanh_backward", "The gradient of tanh from its result: grad * (1 - out * out).",
                                   tanh_backward_gradient)};
const Op sigmoid_backward{from_result(
    "sigmoid_backward", "The gradient of sigmoid from its result: grad * out * (1 - out).", sigmoid_backward_gradient)};

}  // namespace terra::ops
