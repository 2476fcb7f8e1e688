#include "engine/ops/binary.h"

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/creation.h"
#include "engine/ops/layout.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"

namespace terra::ops {

extern const Op logaddexp_reals, lerp_reals;

namespace {

Scalar one_less(const Scalar& number) {
  return number.is_complex() ? Scalar(number.to_complex() - 1.0) : Scalar(number.to_double() - 1);
}
/// grad times (the conjugate of) an attribute; a factor known to be 1 costs nothing.
Tensor mul_scalar(const Tensor& grad, const Arg& factor) {
  return !factor.is_tensor() && is_value(factor.scalar(), 1) ? grad : mul(grad, conjugate(factor));
}

// ---- gradients: operands may be Python numbers, so they are handed on as Args ---------------------------------------
void add_gradient(Backward& b) {
  b.set(0, b.grad());
  if (b.needs(1)) b.set(1, mul_scalar(b.grad(), b.arg(2)));
}
void sub_gradient(Backward& b) {
  b.set(0, b.grad());
  if (b.needs(1)) b.set(1, -mul_scalar(b.grad(), b.arg(2)));
}
void mul_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, mul(b.grad(), conjugate(b.arg(1))));
  if (b.needs(1)) b.set(1, mul(b.grad(), conjugate(b.arg(0))));
}
void true_divide_gradient(Backward& b) {
  const Tensor g = true_divide(b.grad(), conjugate(b.arg(1)));
  if (b.needs(0)) b.set(0, g);
  if (b.needs(1)) b.set(1, -g * conjugate(true_divide(b.arg(0), b.arg(1))));
}
void zero_gradients(Backward& b) {
  b.set(0, zeros_like(b.grad()));
  b.set(1, zeros_like(b.grad()));
}
void remainder_gradient(Backward& b) {
  b.set(0, b.grad());
  if (b.needs(1)) b.set(1, -b.grad() * floor_divide(b.arg(0), b.arg(1)));
}
void fmod_gradient(Backward& b) {
  b.set(0, b.grad());
  if (b.needs(1)) b.set(1, -b.grad() * trunc_divide(b.arg(0), b.arg(1)));
}
Tensor not_negative(const Tensor& t) { return ge(real(t), 0); }
/// x ** 0 has gradient 0 and 0 ** y gradient 0 for y > 0, where the plain formulas would give NaN.
void pow_gradient(Backward& b) {
  const Arg &x = b.arg(0), &y = b.arg(1);
  if (b.needs(0)) {
    if (y.is_tensor()) {
      const Tensor slope = mul(y, pow(x, sub(y, 1)));
      b.set(0, b.grad() * conjugate(where(eq(y, 0), 0.0, slope)));
    } else if (is_value(y.scalar(), 0)) {
      b.set(0, zeros_like(b.grad()));
    } else if (is_value(y.scalar(), 2)) {
      b.set(0, b.grad() * conjugate(mul(x, 2)));
    } else {
      b.set(0, b.grad() * conjugate(mul(pow(x, one_less(y.scalar())), y)));
    }
  }
  if (b.needs(1)) {
    if (x.is_tensor()) {
      const Tensor flat = logical_and(eq(x, 0), not_negative(y.tensor()));
      b.set(1, b.grad() * conjugate(where(flat, 0.0, b.out() * log(x))));
    } else {
      const Scalar& base = x.scalar();
      const Scalar slope = base.is_complex() ? Scalar(std::log(base.to_complex())) : Scalar(std::log(base.to_double()));
      const Tensor grown = mul(b.out(), slope);
      b.set(1, b.grad() * conjugate(is_value(base, 0) ? where(not_negative(y.tensor()), 0.0, grown) : grown));
    }
  }
}
/// Where the operands are equal each gets half.
void choose_gradient(Backward& b, const Op& loses) {
  for (int i : {0, 1}) {
    if (!b.needs(i)) continue;
    const Arg &own = b.arg(i), &other = b.arg(1 - i);
    const Tensor half = where(eq(own, other), b.grad() * 0.5, b.grad());
    b.set(i, where(loses(own, other), 0.0, half));
  }
}
void maximum_gradient(Backward& b) { choose_gradient(b, lt); }
void minimum_gradient(Backward& b) { choose_gradient(b, gt); }
/// The gradient of a NaN goes to the other operand; equal operands share it.
void choose_number_gradient(Backward& b, const Op& holds) {
  const Tensor x = b.in(0), y = b.in(1);
  const Tensor first = logical_or(holds(x, y), isnan(y)), equal = eq(x, y);
  const Tensor half = where(equal, b.grad() * 0.5, b.grad());
  if (b.needs(0)) b.set(0, where(first, half, 0.0));
  if (b.needs(1)) b.set(1, where(logical_and(first, logical_not(equal)), 0.0, half));
}
void fmax_gradient(Backward& b) { choose_number_gradient(b, ge); }
void fmin_gradient(Backward& b) { choose_number_gradient(b, le); }
void atan2_gradient(Backward& b) {
  const Tensor y = b.in(0), x = b.in(1);
  const Tensor g = b.grad() / (x * x + y * y);
  if (b.needs(0)) b.set(0, g * x);
  if (b.needs(1)) b.set(1, -g * y);
}
void hypot_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, b.grad() * (b.in(0) / b.out()));
  if (b.needs(1)) b.set(1, b.grad() * (b.in(1) / b.out()));
}
/// Of equal infinities it is NaN.
void logaddexp_reals_gradient(Backward& b) {
  const Tensor difference = b.in(0) - b.in(1);
  if (b.needs(0)) b.set(0, b.grad() * sigmoid(difference));
  if (b.needs(1)) b.set(1, b.grad() * sigmoid(-difference));
}
void lerp_reals_gradient(Backward& b) {
  const Arg& weight = b.arg(2);
  if (b.needs(0)) b.set(0, mul(b.grad(), weight.is_tensor() ? Arg(1 - b.in(2)) : Arg(1 - weight.scalar().to_double())));
  if (b.needs(1)) b.set(1, mul(b.grad(), weight));
  if (b.needs(2)) b.set(2, b.grad() * (b.in(1) - b.in(0)));
}
void addcmul_gradient(Backward& b) {
  b.set(0, b.grad());
  if (b.needs(1)) b.set(1, mul_scalar(b.grad(), b.arg(3)) * conjugate(b.in(2)));
  if (b.needs(2)) b.set(2, mul_scalar(b.grad(), b.arg(3)) * conjugate(b.in(1)));
}
void addcdiv_gradient(Backward& b) {
  b.set(0, b.grad());
  const Tensor g = mul_scalar(b.grad(), b.arg(3)) / conjugate(b.in(2));
  if (b.needs(1)) b.set(1, g);
  if (b.needs(2)) b.set(2, -g * conjugate(b.in(1) / b.in(2)));
}

// ---- shapes ---------------------------------------------------------------------------------------------------------
/// A number that only a run knows.
bool is_late_number(const Arg& arg) {
  return arg.is_tensor() && arg.impl()->wrapped_number && arg.impl()->is_symbolic();
}
/// The number that a parameter is; null where it is a tensor. What a rule looks at is a constant of a graph: one that
/// only a run knows is refused.
const Scalar* number_at(const Inference& f, int param) {
  const Arg& arg = f.arg(param);
  return arg.is_tensor() && !is_late_number(arg) ? nullptr : &arg.scalar();
}

/// alpha must be of a kind that the common dtype can hold. A number that is only known when a graph runs is no boolean.
void check_alpha(Inference& f, int param, std::string_view name) {
  if (is_inexact(f.common) && f.arg(param).is_tensor()) return;
  const Scalar& alpha = f.arg(param).scalar();
  check(is_inexact(f.common) || !alpha.is_float(),
        "For integral input tensors, argument {} must not be a floating point number.", name);
  check(is_complex(f.common) || !alpha.is_complex(),
        "For non-complex input tensors, argument {} must not be a complex number.", name);
  check(f.common == DType::Bool || alpha.kind() != Scalar::Kind::Bool,
        "Boolean alpha only supported for Boolean results.");
}
void add_shape(Inference& f) {
  check_alpha(f, 2, "alpha");
  rules::elementwise(f);
}
void sub_shape(Inference& f) {
  check_kind(f.common != DType::Bool, ErrorKind::NotImplementedError,
             "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
             "operator instead.");
  add_shape(f);
}
/// Integer division by a Python zero is known before the kernel runs; by a zero element, or a number of a run, only
/// there: where there is an element to divide.
void divide_shape(Inference& f) {
  const bool kernel_sees = is_late_number(f.arg(1)) && f.arg(0).is_tensor() && f.impl(0).numel > 0;
  if (!is_inexact(f.common) && !kernel_sees)
    if (const Scalar* divisor = number_at(f, 1)) check(divisor->to_double() != 0, "ZeroDivisionError");
  rules::elementwise(f);
}
void remainder_shape(Inference& f) {
  rules::check_any_tensor(f);
  divide_shape(f);
}
void pow_shape(Inference& f) {
  rules::check_any_tensor(f);
  check_kind(f.common != DType::Bool || number_at(f, 1), ErrorKind::NotImplementedError,
             "\"pow\" not implemented for 'Bool'");
  if (!is_inexact(f.common))
    if (const Scalar* exponent = number_at(f, 1))
      check(exponent->to_double() >= 0, "Integers to negative integer powers are not allowed.");
  rules::elementwise(f);
}
void hypot_shape(Inference& f) {
  check_kind(is_floating(f.common), ErrorKind::NotImplementedError, "\"hypot_cpu\" not implemented for '{}'",
             scalar_type_name(f.common));
  rules::elementwise(f);
}
void addc_shape(Inference& f) {
  if (!f.arg(3).is_tensor() && f.arg(3).scalar().is_complex()) check_holds(f.arg(3).scalar(), f.common);
  check(is_inexact(f.common) || f.arg(3).is_tensor() || !f.arg(3).scalar().is_float(),
        "For integral input tensors, argument value must not be a floating point number.");
  rules::elementwise(f);
}

// ---- composites -----------------------------------------------------------------------------------------------------
void div_of(Composition& c) {
  if (!c.has(2)) return c.result(true_divide(c.arg(0), c.arg(1)));
  const std::string_view mode = c.text(2);
  check(mode == "floor" || mode == "trunc",
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{}'", mode);
  if (mode == "floor") return c.result(floor_divide(c.arg(0), c.arg(1)));
  const Arg operands[] = {c.arg(0), c.arg(1)};
  const bool rounds = is_half(result_type(operands));  // the quotient of 16-bit floats is one before it is cut
  c.result(rounds ? trunc(true_divide(c.arg(0), c.arg(1))) : trunc_divide(c.arg(0), c.arg(1)));
}
void rsub_of(Composition& c) { c.result(sub(c.arg(1), c.arg(0), c.arg(2))); }
/// log(exp(x) + exp(y)) = max + log1p(exp(min - max)); a complex number is larger by its real part, which is the
/// exponent of the absolute value.
void logaddexp_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  check_kind(is_inexact(x.dtype()), ErrorKind::NotImplementedError, "\"logaddexp_cpu\" not implemented for '{}'",
             scalar_type_name(x.dtype()));
  if (!is_complex(x.dtype())) return c.result(logaddexp_reals(x, y));
  const Tensor first = ge(real(x), real(y)), large = where(first, x, y), small = where(first, y, x);
  c.result(large + log1p(exp(small - large)));
}
/// x log y, 0 where x is 0 (unless y is NaN): by itself where log y is finite, so that the gradient there is log y.
void xlogy_of(Composition& c) {
  check_kind(c.arg(0).is_tensor() || c.arg(1).is_tensor(), ErrorKind::TypeError,
             "xlogy() received an invalid combination of arguments: at least one of the two operands must be a Tensor");
  const DType dtype = c.tensor(c.arg(0).is_tensor() ? 0 : 1).dtype();
  const auto operand = [&](int i) { return c.arg(i).is_tensor() ? c.tensor(i) : full(Dims{}, c.arg(i), dtype); };
  const Tensor x = operand(0), y = operand(1);
  const Tensor empty = logical_and(eq(x, 0), logical_or(le(y, 0), isinf(y)));
  c.result(where(empty, 0.0, x * log(where(empty, 1.0, y))));
}
/// As PyTorch: from the nearer end, so that weight 1 gives `end` exactly; a number counts as the floats it meets do.
void lerp_of(Composition& c) {
  const Tensor start = c.tensor(0), end = c.tensor(1);
  const auto check_of_start = [&start](std::string_view name, const Tensor& other) {
    check(other.dtype() == start.dtype(), "expected dtype {} for `{}` but got dtype {}", c_type_name(start.dtype()),
          name, c_type_name(other.dtype()));
  };
  check_of_start("end", end);
  if (c.arg(2).is_tensor() && c.tensor(2).rank() > 0) check_of_start("weight", c.tensor(2));
  check_kind(is_inexact(start.dtype()), ErrorKind::NotImplementedError, "\"lerp_kernel_{}\" not implemented for '{}'",
             c.arg(2).is_tensor() ? "tensor" : "scalar", scalar_type_name(start.dtype()));
  if (!is_complex(start.dtype()) && (c.arg(2).is_tensor() || !c.arg(2).scalar().is_complex()))
    return c.result(lerp_reals(start, end, c.arg(2)));
  const Tensor difference = end - start;
  if (!c.arg(2).is_tensor() && c.arg(2).scalar().is_complex()) {
    check_holds(c.arg(2).scalar(), difference.dtype());
    const std::complex<double> w = c.arg(2).scalar().to_complex(), rest = 1.0 - w;
    return c.result(std::abs(w) < 0.5 ? start + mul(difference, Scalar(w)) : end - mul(difference, Scalar(rest)));
  }
  if (!c.arg(2).is_tensor()) {
    const bool doubles = start.dtype() == DType::C128;
    const double w = doubles ? c.real(2) : static_cast<float>(c.real(2));
    const double rest = doubles ? 1 - w : 1 - static_cast<float>(w);
    return c.result(std::abs(w) < 0.5 ? add(start, difference, w) : sub(end, difference, rest));
  }
  const Tensor w = c.tensor(2);
  c.result(where(lt(abs(w), 0.5), start + w * difference, end - difference * (1 - w)));
}

// ---- samples --------------------------------------------------------------------------------------------------------
const std::vector<Sample> kPairs = {{"randn(3, 4), randn(3, 4)"},
                                    {"randn(3, 1), randn(4)"},
                                    {"randn(2, 3), 1.5"},
                                    {"randn(()), randn(2)"},
                                    {"randn(0, 3), randn(3)"},
                                    {"randn(3, 4).t(), randn(4, 1)"},
                                    {"randint(1, 9, (2, 3)), randint(1, 5, (3,))", "int", false},
                                    {"randint(1, 9, (2, 3)), 2", "int", false}};
const std::vector<Sample> kTensorPairs = {{"randn(3, 4), randn(3, 4)"},
                                          {"randn(3, 1), randn(4)"},
                                          {"randint(1, 9, (2, 3)), randint(1, 5, (3,))", "int", false}};
const std::vector<Sample> kPositivePairs = {{"rand(3, 4) + 0.5, rand(3, 4) + 0.5"},
                                            {"rand(3, 1) + 0.5, rand(4) + 0.5"},
                                            {"rand(2, 3) + 0.5, 1.5"},
                                            {"rand(2, 3) + 0.5, 2"},
                                            {"2.0, rand(2, 3)"},
                                            {"randint(1, 9, (2, 3)), randint(1, 5, (3,))", "int", false},
                                            {"randint(1, 9, (2, 3)), 2", "int", false}};
const std::vector<Sample> kTriples = {{"randn(3, 4), randn(3, 4), rand(3, 4) + 0.5"},
                                      {"randn(3, 4), randn(4), rand(3, 1) + 0.5, value=0.5"}};

std::vector<Sample> with_complex(std::vector<Sample> samples, std::initializer_list<std::string_view> texts) {
  for (std::string_view text : texts) samples.push_back({text, "complex"});
  return samples;
}

// ---- names of nodes: a number on either side makes another of PyTorch's overloads ----

bool is_number(const Arg& arg) { return !arg.is_tensor() || arg.impl()->wrapped_number; }

std::string_view sub_name(std::span<const Arg> args) { return is_number(args[0]) ? "RsubBackward1" : "SubBackward0"; }
std::string_view pow_name(std::span<const Arg> args) {
  return is_number(args[0]) ? "PowBackward2" : is_number(args[1]) ? "PowBackward0" : "PowBackward1";
}
/// 1 / x is the reciprocal, multiplied.
std::string_view quotient_name(std::span<const Arg> args) {
  return is_number(args[0]) ? "MulBackward0" : "DivBackward0";
}
std::string_view div_name(std::span<const Arg> args) {
  return args[2].is_none() ? quotient_name(args) : "DivBackward2";
}
std::string_view remainder_name(std::span<const Arg> args) {
  return is_number(args[0]) ? "NotImplemented" : is_number(args[1]) ? "RemainderBackward0" : "RemainderBackward1";
}
std::string_view fmod_name(std::span<const Arg> args) { return is_number(args[1]) ? "FmodBackward0" : "FmodBackward1"; }
std::string_view lerp_name(std::span<const Arg> args) { return is_number(args[2]) ? "LerpBackward0" : "LerpBackward1"; }

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op add{{.name = "add",
              .signature = "(Tensor|Number self, Tensor|Number other, *, Number alpha=1) -> Tensor",
              .doc = "self + alpha * other.",
              .example = "terra.add(terra.ones(2), 3, alpha=2)",
              .flags = kElementwiseMath | kCheap | kComplex,
              .promotion = Promotion::Common,
              .shape = add_shape,
              .gradient = add_gradient,
              .seen_numbers = params({0, 1}),
              .samples = {{"randn(3, 4), randn(3, 4)"},
                          {"randn(3, 1), randn(4), alpha=2.5"},
                          {"randn(2, 3), 1.5"},
                          {"randn(()), randn(2)"},
                          {"randn(0, 3), randn(3)"},
                          {"randn(3, 4).t(), randn(4, 1)"},
                          {"randint(0, 9, (2, 3)), randint(0, 9, (3,)), alpha=3", "int", false},
                          {"randint(0, 9, (2, 3)), 1.5", "int", false},
                          {"crandn(3, 4), crandn(4), alpha=2 - 1j", "complex"}}}};
const Op sub{{.name = "sub",
              .signature = "(Tensor|Number self, Tensor|Number other, *, Number alpha=1) -> Tensor",
              .doc = "self - alpha * other.",
              .example = "terra.sub(terra.ones(2), 3)",
              .flags = kElementwiseMath | kCheap | kComplex | kRefusesBool,
              .promotion = Promotion::Common,
              .shape = sub_shape,
              .gradient = sub_gradient,
              .aliases = "subtract",
              .grad_fn_of = sub_name,
              .seen_numbers = params({1}),
              .samples = {{"randn(3, 4), randn(3, 4)"},
                          {"randn(3, 1), randn(4), alpha=2.5"},
                          {"1.5, randn(2, 3)"},
                          {"randn(2), randn(())"},
                          {"randint(0, 9, (2, 3)), 4", "int", false},
                          {"crandn(3, 1), randn(4)", "complex"}}}};
const Op rsub{{.name = "rsub",
               .signature = "(Tensor self, Tensor|Number other, *, Number alpha=1) -> Tensor",
               .doc = "other - alpha * self.",
               .example = "terra.rsub(terra.ones(2), 3)",
               .flags = kFunction | kComplex,
               .composite = rsub_of,
               .grad_fn = "RsubBackward1",
               .samples = {{"randn(3, 4), 1.5"}, {"randn(3), randn(2, 3), alpha=2"}}}};
const Op mul{{.name = "mul",
              .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
              .doc = "self * other.",
              .example = "terra.mul(terra.ones(2), 3)",
              .flags = kElementwiseMath | kCheap | kComplex | kBarebones,
              .promotion = Promotion::Common,
              .shape = rules::elementwise,
              .gradient = mul_gradient,
              .saved = saves({0, 1}),
              .saved_for_others = true,
              .aliases = "multiply",
              .seen_numbers = params({0, 1}),
              .samples = with_complex(kPairs, {"crandn(3, 4), randn(4)", "crandn(2, 3), 1.5 + 2j"})}};
const Op true_divide{{.name = "true_divide",
                      .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                      .doc = "self / other, as floats.",
                      .example = "terra.true_divide(terra.tensor([3]), 2)",
                      .flags = kElementwiseMath | kCheap | kComplex,
                      .promotion = Promotion::Floating,
                      .shape = rules::elementwise,
                      .gradient = true_divide_gradient,
                      .saved = saves({0, 1}),
                      .grad_fn_of = quotient_name,
                      .seen_numbers = params({0, 1}),
                      .samples = with_complex(kPositivePairs, {"crandn(3, 4), crandn(4)", "2j, crandn(3)"})}};
const Op floor_divide{{.name = "floor_divide",
                       .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                       .doc = "The largest integer not above self / other.",
                       .example = "terra.floor_divide(terra.tensor([-3]), 2)",
                       .flags = kElementwiseMath | kChecksValues,
                       .promotion = Promotion::Common,
                       .shape = divide_shape,
                       .gradient = zero_gradients,
                       .grad_fn = "NotImplemented",
                       .samples = kPositivePairs}};
const Op trunc_divide{{.name = "trunc_divide",
                       .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                       .doc = "self / other without its fraction: div with rounding_mode='trunc'.",
                       .example = "",
                       .flags = kElementwise | kInPlace | kChecksValues,
                       .promotion = Promotion::Common,
                       .shape = divide_shape,
                       .gradient = zero_gradients,
                       .samples = kPositivePairs}};
const Op div{{.name = "div",
              .signature = "(Tensor|Number self, Tensor|Number other, *, str? rounding_mode=None) -> Tensor",
              .doc = "self / other, rounded if rounding_mode is 'floor' or 'trunc'.",
              .example = "terra.div(terra.tensor([7.0]), 2, rounding_mode='floor')",
              .flags = kVisibleInPlace | kMovesBytes,
              .composite = div_of,
              .aliases = "divide",
              .grad_fn_of = div_name,
              .seen_numbers = params({0, 1}),
              .samples = {{"randn(3, 4), rand(3, 4) + 0.5"},
                          {"randn(3, 4), rand(4) + 0.5, rounding_mode='floor'"},
                          {"randint(-9, 9, (3, 4)), 2", "int", false},
                          {"randint(-9, 9, (3, 4)), 2, rounding_mode='trunc'", "int", false}}}};
const Op remainder{{.name = "remainder",
                    .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                    .doc = "self - floor(self / other) * other: the remainder with the sign of other, as in Python.",
                    .example = "terra.remainder(terra.tensor([-3, 3]), 2)",
                    .flags = kElementwiseMath | kChecksValues,
                    .promotion = Promotion::Common,
                    .shape = remainder_shape,
                    .gradient = remainder_gradient,
                    .saved = saves({0, 1}),
                    .grad_fn_of = remainder_name,
                    .samples = kPositivePairs}};
const Op fmod{{.name = "fmod",
               .signature = "(Tensor self, Tensor|Number other) -> Tensor",
               .doc = "self - trunc(self / other) * other: the remainder with the sign of self, as in C.",
               .example = "terra.fmod(terra.tensor([-3.0, 3.0]), 2)",
               .flags = kElementwiseMath | kChecksValues,
               .promotion = Promotion::Common,
               .shape = divide_shape,
               .gradient = fmod_gradient,
               .saved = saves({0, 1}),
               .grad_fn_of = fmod_name,
               .samples = {{"randn(3, 4), rand(3, 4) + 0.5"}, {"randint(-9, 9, (2, 3)), 4", "int", false}}}};
const Op pow{{.name = "pow",
              .signature = "(Tensor|Number self, Tensor|Number exponent) -> Tensor",
              .doc = "self to the power of exponent.",
              .example = "terra.pow(terra.tensor([3.0]), 2)",
              .flags = kElementwiseMath | kComplex,
              .promotion = Promotion::Common,
              .shape = pow_shape,
              .gradient = pow_gradient,
              .saved = saves({0, 1}) | saves_result(),
              .grad_fn_of = pow_name,
              .samples = with_complex(kPositivePairs, {"crandn(3, 4), 2.5", "crandn(3), crandn(3)"})}};
const Op maximum{{.name = "maximum",
                  .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                  .doc = "The larger of two elements; NaN if either is.",
                  .example = "terra.maximum(terra.tensor([1, 5]), terra.tensor([3, 2]))",
                  .flags = kVisible | kElementwise | kCheap | kBarebones | kTensorsOnly,
                  .promotion = Promotion::Common,
                  .shape = rules::elementwise,
                  .gradient = maximum_gradient,
                  .saved = saves({0, 1}),
                  .samples = kTensorPairs}};
const Op minimum{{.name = "minimum",
                  .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                  .doc = "The smaller of two elements; NaN if either is.",
                  .example = "terra.minimum(terra.tensor([1, 5]), terra.tensor([3, 2]))",
                  .flags = kVisible | kElementwise | kCheap | kBarebones | kTensorsOnly,
                  .promotion = Promotion::Common,
                  .shape = rules::elementwise,
                  .gradient = minimum_gradient,
                  .saved = saves({0, 1}),
                  .samples = kTensorPairs}};
const Op fmax{{.name = "fmax",
               .signature = "(Tensor self, Tensor other) -> Tensor",
               .doc = "The larger of two elements; NaN only if both are.",
               .example = "terra.fmax(terra.tensor([1.0, float('nan')]), terra.tensor([3.0, 2.0]))",
               .flags = kVisible | kElementwise | kCheap | kBarebones,
               .promotion = Promotion::Common,
               .shape = rules::elementwise,
               .gradient = fmax_gradient,
               .saved = saves({0, 1}),
               .samples = kTensorPairs}};
const Op fmin{{.name = "fmin",
               .signature = "(Tensor self, Tensor other) -> Tensor",
               .doc = "The smaller of two elements; NaN only if both are.",
               .example = "terra.fmin(terra.tensor([1.0, float('nan')]), terra.tensor([3.0, 2.0]))",
               .flags = kVisible | kElementwise | kCheap | kBarebones,
               .promotion = Promotion::Common,
               .shape = rules::elementwise,
               .gradient = fmin_gradient,
               .saved = saves({0, 1}),
               .samples = kTensorPairs}};
const Op atan2{{.name = "atan2",
                .signature = "(Tensor self, Tensor other) -> Tensor",
                .doc = "The angle in (-pi, pi] of the point (other, self).",
                .example = "terra.atan2(terra.ones(1), terra.ones(1))",
                .flags = kElementwiseMath,
                .promotion = Promotion::Floating,
                .shape = rules::elementwise,
                .gradient = atan2_gradient,
                .saved = saves({0, 1}),
                .aliases = "arctan2",
                .samples = {{"randn(3, 4) + 3, randn(4)"}}}};
const Op hypot{{.name = "hypot",
                .signature = "(Tensor self, Tensor other) -> Tensor",
                .doc = "The length of the vector (self, other).",
                .example = "terra.hypot(terra.tensor([3.0]), terra.tensor([4.0]))",
                .flags = kElementwiseMath,
                .promotion = Promotion::Common,
                .shape = hypot_shape,
                .gradient = hypot_gradient,
                .saved = saves({0, 1}) | saves_result(),
                .samples = {{"rand(3, 4) + 1, randn(4)"}}}};
const Op logaddexp{{.name = "logaddexp",
                    .signature = "(Tensor self, Tensor other) -> Tensor",
                    .doc = "log(exp(self) + exp(other)), without overflow.",
                    .example = "terra.logaddexp(terra.zeros(1), terra.zeros(1))",
                    .flags = kVisible,
                    .promotion = Promotion::Common,
                    .composite = logaddexp_of,
                    .grad_fn = "LogaddexpBackward0",
                    .samples = {{"randn(3, 4), randn(4)"}}}};
const Op logaddexp_reals{{.name = "logaddexp_reals",
                          .signature = "(Tensor self, Tensor other) -> Tensor",
                          .doc = "logaddexp of real numbers.",
                          .example = "",
                          .flags = kElementwise,
                          .promotion = Promotion::Common,
                          .shape = rules::elementwise,
                          .gradient = logaddexp_reals_gradient,
                          .saved = saves({0, 1}),
                          .samples = {{"randn(3, 4), randn(4)"}, {"randn(3, 1), randn(4)"}}}};
const Op xlogy{{.name = "xlogy",
                .signature = "(Tensor|Number self, Tensor|Number other) -> Tensor",
                .doc = "self * log(other), 0 where self is 0.",
                .example = "terra.xlogy(terra.tensor([0.0]), terra.tensor([0.0]))",
                .flags = kVisibleInPlace,
                .promotion = Promotion::Floating,
                .composite = xlogy_of,
                .grad_fn = "XlogyBackward0",
                .samples = {{"randn(3, 4), rand(4) + 0.2"}}}};
const Op lerp{{.name = "lerp",
               .signature = "(Tensor self, Tensor end, Tensor|Number weight) -> Tensor",
               .doc = "self + weight * (end - self).",
               .example = "terra.lerp(terra.zeros(2), terra.ones(2), 0.25)",
               .flags = kVisibleInPlace | kLaidOutAsAsked,
               .composite = lerp_of,
               .grad_fn_of = lerp_name,
               .samples = {{"randn(3, 4), randn(3, 4), 0.3"}, {"randn(3, 4), randn(4), rand(3, 1)"}}}};
const Op lerp_reals{{.name = "lerp_reals",
                     .signature = "(Tensor self, Tensor end, Tensor|Number weight) -> Tensor",
                     .doc = "lerp of real numbers.",
                     .example = "",
                     .flags = kElementwise,
                     .promotion = Promotion::Common,
                     .shape = rules::elementwise,
                     .gradient = lerp_reals_gradient,
                     .saved = saves({0, 1, 2}),
                     .saved_for_others = true,
                     .samples = {{"randn(3, 4), randn(3, 4), 0.3"}, {"randn(3, 4), randn(4), rand(3, 1)"}}}};
const Op addcmul{{.name = "addcmul",
                  .signature = "(Tensor self, Tensor tensor1, Tensor tensor2, *, Number value=1) -> Tensor",
                  .doc = "self + value * tensor1 * tensor2.",
                  .example = "terra.addcmul(terra.ones(2), terra.ones(2), terra.ones(2), value=0.5)",
                  .flags = kElementwiseMath | kComplex,
                  .promotion = Promotion::Common,
                  .shape = addc_shape,
                  .gradient = addcmul_gradient,
                  .saved = saves({1, 2}),
                  .saved_for_others = true,
                  .samples = with_complex(kTriples, {"crandn(3), crandn(3), randn(3), value=1j"})}};
const Op addcdiv{{.name = "addcdiv",
                  .signature = "(Tensor self, Tensor tensor1, Tensor tensor2, *, Number value=1) -> Tensor",
                  .doc = "self + value * tensor1 / tensor2.",
                  .example = "terra.addcdiv(terra.ones(2), terra.ones(2), terra.ones(2), value=0.5)",
                  .flags = kElementwiseMath | kComplex,
                  .promotion = Promotion::Floating,
                  .shape = addc_shape,
                  .gradient = addcdiv_gradient,
                  .saved = saves({1, 2}),
                  .samples = with_complex(kTriples, {"crandn(3), crandn(3), crandn(3), value=0.5"})}};

}  // namespace terra::ops
