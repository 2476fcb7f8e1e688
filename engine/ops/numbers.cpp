#include "engine/ops/numbers.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/composed.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/matrices.h"
#include "engine/ops/real_function.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/special.h"

namespace terra::ops {
namespace {

// ---- gradients ------------------------------------------------------------------------------------------------------
Tensor x(Backward& b) { return conjugate(b.in(0)); }

void asinh_gradient(Backward& b) { b.set(0, b.grad() * rsqrt(x(b) * x(b) + 1)); }
/// In two factors: the product of the roots is right for complex numbers, too.
void acosh_gradient(Backward& b) { b.set(0, b.grad() * (rsqrt(x(b) - 1) * rsqrt(x(b) + 1))); }
void atanh_gradient(Backward& b) { b.set(0, b.grad() / (1 - x(b) * x(b))); }
/// The neighbour moves with the number; where there is no way to go, not at all.
void nextafter_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, where(ne(b.in(0), b.in(1)), b.grad(), 0.0));
  if (b.needs(1)) b.set(1, zeros_like(b.grad()));
}
/// As PyTorch: the quotient of both, but 0 at 0.
void copysign_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, where(eq(b.in(0), 0), 0.0, b.grad() * (b.out() / b.in(0))));
  if (b.needs(1)) b.set(1, zeros_like(b.grad()));
}
/// The mantissa is x / 2^exponent.
void frexp_gradient(Backward& b) { b.set(0, b.grad() / pow(2.0, to_dtype(b.out(1), b.dtype(0)))); }

// ---- shapes ---------------------------------------------------------------------------------------------------------
void nextafter_shape(Inference& f) {
  check_kind(is_floating(f.common), ErrorKind::NotImplementedError, "\"nextafter_cpu\" not implemented for '{}'",
             scalar_type_name(f.common));
  rules::elementwise(f);
}
void copysign_shape(Inference& f) {
  check_kind(!is_complex(f.common), ErrorKind::RuntimeError, "copysign does not support complex inputs.");
  rules::elementwise(f);
}
void frexp_shape(Inference& f) {
  check_lapack(f.dtype(0), "frexp");
  f.result(f.dtype(0), Dims(f.sizes(0)));
  f.result(DType::I32, Dims(f.sizes(0)));
}
void frexp_host(Args a, Results& out) {
  const Tensor self = a[0].tensor();
  out = made_by_shape(frexp_parts, a);
  fill_with(out[0], self);
  int32_t* exponents = out[1]->data_as<int32_t>();
  with_float(self.dtype(), [&]<class T>(T) {
    T* parts = out[0]->data_as<T>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      int exponent = 0;
      parts[i] = std::frexp(parts[i], &exponent);
      exponents[i] = std::isfinite(parts[i]) ? exponent : 0;
    }
  });
}

// ---- composites -----------------------------------------------------------------------------------------------------
Tensor as_float(const Tensor& t) { return is_inexact(t.dtype()) ? t : to_dtype(t, default_dtype()); }
DType common_dtype(const Composition& c) {
  const Arg operands[] = {c.arg(0), c.arg(1)};
  return result_type(operands);
}

void exp2_of(Composition& c) { c.result(pow(2.0, as_float(c.tensor(0)))); }
void sinc_of(Composition& c) {
  const Tensor x = as_float(c.tensor(0)), zero = eq(x, 0), angle = where(zero, 1.0, x * std::numbers::pi);
  c.result(where(zero, 1.0, sin(angle) / angle));
}
/// The sum of lgamma at x, x - 1/2, ..., p of them, and of log(pi) p (p - 1) / 4.
void mvlgamma_of(Composition& c) {
  const int64_t p = c.integer(1);
  check(p >= 1, "p has to be greater than or equal to 1");
  check_kind(c.tensor(0).dtype() != DType::Bool, ErrorKind::RuntimeError,
             "The input tensor may not be a boolean tensor.");
  const Tensor x = as_float(c.tensor(0));
  check_room(Dims{size_product(x.numel(), p)}, x.dtype());
  const Tensor halves = to_dtype(arange(0, p), x.dtype()) / 2;
  const double q = static_cast<double>(p);
  c.result(sum(lgamma(unsqueeze(x, -1) - halves), Dims{-1}) + q * (q - 1) / 4 * std::log(std::numbers::pi));
}
void heaviside_of(Composition& c) {
  const Tensor x = c.tensor(0), values = c.tensor(1);
  check(!is_complex(x.dtype()) && !is_complex(values.dtype()), "heaviside is not yet implemented for complex tensors.");
  check(x.dtype() == values.dtype(), "heaviside is not yet implemented for tensors with different dtypes.");
  c.result(where(eq(x, 0), values, to_dtype(gt(x, 0), x.dtype())));
}
void infinity_of(Composition& c, double infinity) {
  const Tensor x = c.tensor(0);
  check_kind(!is_complex(x.dtype()), ErrorKind::TypeError, "{} does not support complex inputs.", c.op.name);
  c.result(is_floating(x.dtype()) ? eq(x, infinity) : zeros(x.sizes(), DType::Bool));
}
void isneginf_of(Composition& c) { infinity_of(c, -std::numeric_limits<double>::infinity()); }
void isposinf_of(Composition& c) { infinity_of(c, std::numeric_limits<double>::infinity()); }
/// As logaddexp, to base 2.
void logaddexp2_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  check_kind(is_floating(x.dtype()), ErrorKind::NotImplementedError, "\"logaddexp2_cpu\" not implemented for '{}'",
             scalar_type_name(x.dtype()));
  const Tensor first = ge(x, y), large = where(first, x, y), small = where(first, y, x);
  const Tensor sum = large + log1p(exp2(small - large)) / std::numbers::ln2;
  c.result(where(logical_and(eq(x, y), isinf(x)), x, sum));
}
/// In double precision whatever the operands are.
void float_power_of(Composition& c) {
  check_kind(c.arg(0).is_tensor() || c.arg(1).is_tensor(), ErrorKind::TypeError,
             "float_power() received an invalid combination of arguments: at least one of the two operands must be a "
             "Tensor");
  const DType wide = is_complex(common_dtype(c)) ? DType::C128 : DType::F64;
  const auto operand = [&](int i) {
    return c.arg(i).is_tensor() ? to_dtype(c.tensor(i), wide) : full(Dims{}, c.arg(i), wide);
  };
  c.result(pow(operand(0), operand(1)));
}
/// What holds the result must be of its dtype.
void float_power_here_of(Composition& c) {
  const DType dtype = c.tensor(0).dtype(), wide = is_complex(common_dtype(c)) ? DType::C128 : DType::F64;
  check(dtype == wide, "the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
        scalar_type_name(dtype), scalar_type_name(wide));
  float_power_of(c);
}
void ldexp_of(Composition& c) { c.result(mul(c.arg(0), pow(2.0, as_float(c.tensor(1))))); }
void frexp_of(Composition& c) {
  const Tensor self = c.tensor(0);
  check(is_floating(self.dtype()), "torch.frexp() only supports floating-point dtypes");
  const auto parts = frexp_parts.all(self);
  c.result(parts[0]);
  c.result(parts[1]);
}

// ---- records --------------------------------------------------------------------------------------------------------
OpRecord analytic(RealFunction f) {
  f.where |= kComplex;
  f.samples.push_back({"crandn(3, 4)", "complex"});
  f.samples.push_back({"randint(1, 2, (3,))", "int", false});
  return real_function(std::move(f));
}
std::string_view copysign_name(std::span<const Arg> args) {
  const bool by_number = !args[1].is_tensor() || args[1].impl()->wrapped_number;
  return by_number ? "CopysignBackward1" : "CopysignBackward0";
}
OpRecord of_integers(std::string_view name, std::string_view doc, std::string_view example) {
  return {.name = name,
          .signature = "(Tensor self, Tensor other) -> Tensor",
          .doc = doc,
          .example = example,
          .flags = kElementwiseMath | kNoGradient,
          .promotion = Promotion::Common,
          .shape = rules::elementwise_integral,
          .samples = {{"randint(-20, 20, (3, 4)), randint(-9, 9, (4,))", "int", false}}};
}
OpRecord on_numbers(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
                    CompositeRule rule, std::vector<Sample> samples, uint32_t flags = kVisibleInPlace,
                    std::string_view grad_fn = "") {
  return composed(name, signature, doc, example, rule, std::move(samples), flags, grad_fn);
}

const std::vector<Sample> kReals = {{"randn(3, 4)"}, {"randn(2, 1, 3).transpose(0, 2)"}, {"randn(())"}};
constexpr std::string_view kOne = "(Tensor self) -> Tensor";

}  // namespace

const Op asinh{analytic({"asinh", "The number whose hyperbolic sine is each element.", "terra.asinh(terra.ones(2))",
                         asinh_gradient, saves({0}), kReals, "arcsinh"})};
const Op acosh{analytic({"acosh",
                         "The number from 0 whose hyperbolic cosine is each element.",
                         "terra.acosh(terra.tensor([2.0]))",
                         acosh_gradient,
                         saves({0}),
                         {{"rand(3, 4) + 1.2"}, {"rand(()) + 2"}},
                         "arccosh"})};
const Op atanh{analytic({"atanh",
                         "The number whose hyperbolic tangent is each element.",
                         "terra.atanh(terra.tensor([0.5]))",
                         atanh_gradient,
                         saves({0}),
                         {{"rand(3, 4) * 1.6 - 0.8"}, {"rand(()) * 0.5"}},
                         "arctanh"})};
const Op exp2{on_numbers("exp2", kOne, "2 to the power of each element.", "terra.exp2(terra.tensor([3.0]))", exp2_of,
                         kReals, kVisibleInPlace, "Exp2Backward0")};
const Op sinc{on_numbers("sinc", kOne, "sin(pi x) / (pi x) of each element, 1 at 0.", "terra.sinc(terra.tensor([0.5]))",
                         sinc_of, kReals, kVisibleInPlace, "SincBackward0")};
const Op mvlgamma{on_numbers("mvlgamma", "(Tensor self, int p) -> Tensor",
                             "The logarithm of the multivariate gamma function of dimension p.",
                             "terra.mvlgamma(terra.tensor([3.0]), 2)", mvlgamma_of,
                             {{"rand(3, 4) + 2, 3"}, {"rand(()) + 1, 1"}}, kVisibleInPlace, "MvlgammaBackward0")};
const Op signbit{{.name = "signbit",
                  .signature = "(Tensor self) -> Tensor",
                  .doc = "Whether each element is negative, or a zero or NaN with a minus sign.",
                  .example = "terra.signbit(terra.tensor([1.0, -0.0]))",
                  .flags = kVisible | kElementwise | kCompares | kNoGradient | kBarebones,
                  .promotion = Promotion::Common,
                  .shape = rules::elementwise,
                  .samples = {{"randn(3, 4)", "float", false}, {"randint(-4, 5, (4, 2))", "int", false}}}};
const Op copysign{{.name = "copysign",
                   .signature = "(Tensor self, Tensor|Number other) -> Tensor",
                   .doc = "The size of self with the sign of other.",
                   .example = "terra.copysign(terra.ones(2), -2)",
                   .flags = kElementwiseMath,
                   .promotion = Promotion::Floating,
                   .shape = copysign_shape,
                   .gradient = copysign_gradient,
                   .saved = saves({0}) | saves_result(),
                   .grad_fn_of = copysign_name,
                   .samples = {{"randn(3, 4), randn(4)"},
                               {"randn(3, 4), -0.0"},
                               {"randint(-4, 5, (4, 2)), randint(-4, 5, (2,))", "int", false}}}};
const Op heaviside{on_numbers(
    "heaviside", "(Tensor self, Tensor values) -> Tensor", "0 below zero, 1 above it, and values at it.",
    "terra.heaviside(terra.tensor([-1.0, 0.0, 2.0]), terra.tensor(0.5))", heaviside_of,
    {{"randn(3, 4), randn(4)", "float", false}, {"randint(-1, 2, (3, 4)), randint(-4, 5, (4,))", "int", false}},
    kVisibleInPlace | kNoGradient)};
const Op nextafter{{.name = "nextafter",
                    .signature = "(Tensor self, Tensor other) -> Tensor",
                    .doc = "The number behind self on the way to other that can be represented.",
                    .example = "terra.nextafter(terra.ones(1), terra.zeros(1))",
                    .flags = kElementwiseMath,
                    .promotion = Promotion::Common,
                    .shape = nextafter_shape,
                    .gradient = nextafter_gradient,
                    .saved = saves({0, 1}),
                    .samples = {{"randn(3, 4), randn(4)", "float", false}}}};
const Op gcd{of_integers("gcd", "The greatest common divisor of two elements.",
                         "terra.gcd(terra.tensor([12]), terra.tensor([18]))")};
const Op lcm{of_integers("lcm", "The least common multiple of two elements.",
                         "terra.lcm(terra.tensor([4]), terra.tensor([6]))")};
const Op isneginf{on_numbers("isneginf", kOne, "Whether each element is minus infinity.",
                             "terra.isneginf(terra.tensor([float('-inf')]))", isneginf_of,
                             {{"randn(3)", "float", false}}, kVisible | kNoGradient)};
const Op isposinf{on_numbers("isposinf", kOne, "Whether each element is plus infinity.",
                             "terra.isposinf(terra.tensor([float('inf')]))", isposinf_of,
                             {{"randn(3)", "float", false}}, kVisible | kNoGradient)};
const Op logaddexp2{{.name = "logaddexp2",
                     .signature = "(Tensor self, Tensor other) -> Tensor",
                     .doc = "The logarithm to base 2 of 2 ** self + 2 ** other, without overflow.",
                     .example = "terra.logaddexp2(terra.zeros(1), terra.zeros(1))",
                     .flags = kVisible,
                     .promotion = Promotion::Common,
                     .composite = logaddexp2_of,
                     .grad_fn = "Logaddexp2Backward0",
                     .samples = {{"randn(3, 4), randn(4)"}}}};
const Op float_power{on_numbers(
    "float_power", "(Tensor|Number self, Tensor|Number exponent) -> Tensor",
    "self to the power of exponent, in double precision.", "terra.float_power(terra.tensor([3]), 2)", float_power_of,
    {{"rand(3, 4) + 0.5, randn(4)"}, {"rand(3) + 0.5, 2"}, {"2, randn(3)"}}, kVisible | kMovesBytes, "PowBackward0")};
const Op float_power_here{on_numbers("float_power_here", "(Tensor self, Tensor|Number exponent) -> Tensor",
                                     "self to the power of exponent, for a self in double precision.", "",
                                     float_power_here_of, {{"(rand(3, 4) + 0.5).double(), 2", "float", false}},
                                     kInPlace | kMovesBytes)};
const Op ldexp{on_numbers("ldexp", "(Tensor self, Tensor other) -> Tensor", "self * 2 ** other.",
                          "terra.ldexp(terra.ones(1), terra.tensor([3]))", ldexp_of,
                          {{"randn(3, 4), randn(4)"}, {"randn(3), randint(-2, 3, (3,))", "float", false}},
                          kVisibleInPlace, "LdexpBackward0")};
const Op frexp_parts{{.name = "frexp_parts",
                      .signature = "(Tensor self) -> (Tensor mantissa, Tensor exponent)",
                      .doc = "Each element as mantissa * 2 ** exponent.",
                      .example = "",
                      .flags = kHost,
                      .shape = frexp_shape,
                      .host = frexp_host,
                      .gradient = frexp_gradient,
                      .saved = saves_result(1),
                      .samples = {{"randn(3, 4)"}, {"randn(4, 3).t()"}}}};
const Op frexp{on_numbers("frexp", "(Tensor self) -> (Tensor mantissa, Tensor exponent)",
                          "Each element as mantissa * 2 ** exponent with a mantissa from 1/2 to 1 in size.",
                          "terra.frexp(terra.tensor([6.0])).mantissa", frexp_of, {{"randn(3, 4)"}}, kVisible)};

}  // namespace terra::ops
