// Every elementwise op: how many operands it takes, which attributes, and how close its kernel must come.
#pragma once
#include <functional>

#include "kernels/cpu/elementwise.h"
#include "kernels/reference/elementwise.h"
#include "tests/unit/kernels/kernel_case.h"

namespace terra::test {

struct ElementwiseCase {
  const char* op;
  int operands;
  /// Adds the arguments after the operands (of which the first `operands` entries are placeholders).
  std::function<void(Arguments&)> attributes = [](Arguments&) {};
  double ulps = 0;   ///< allowed distance of a float from the reference, in units in the last place
  double scale = 0;  ///< units are taken at this size at least: where terms cancel
  int mask = -1;     ///< the operand that is bool whatever the others are
  /// Whether the reference holds for arguments of any size: a power series or so many steps do not.
  bool reference_is_total = true;
};

inline const std::vector<ElementwiseCase>& elementwise_cases() {
  static const auto alpha = [](Arguments& a) { a << Scalar(2); };
  static const std::vector<ElementwiseCase> cases = {
      {"neg", 1},
      {"abs", 1},
      {"sign", 1},
      {"sgn", 1},
      {"angle", 1},
      {"floor", 1},
      {"ceil", 1},
      {"round", 1},
      {"trunc", 1},
      {"sqrt", 1},
      {"rsqrt", 1, {}, 1},
      {"reciprocal", 1},
      {"relu", 1},
      {"leaky_relu", 1, [](Arguments& a) { a << 0.25; }},
      {"clamp", 1, [](Arguments& a) { a << Scalar(-1) << Scalar(2); }},
      {"clamp", 1, [](Arguments& a) { a << nullptr << Scalar(1); }},
      {"hardtanh", 1, [](Arguments& a) { a << Scalar(-1) << Scalar(2); }},
      {"logical_not", 1},
      {"bitwise_not", 1},
      {"isnan", 1},
      {"isinf", 1},
      {"signbit", 1},
      {"exp", 1, {}, 4},
      {"expm1", 1, {}, 4},
      {"log", 1, {}, 4},
      {"log2", 1, {}, 4},
      {"log10", 1, {}, 4},
      {"log1p", 1, {}, 4},
      {"sin", 1, {}, 4},
      {"cos", 1, {}, 4},
      {"tan", 1, {}, 4},
      {"asin", 1, {}, 4},
      {"acos", 1, {}, 4},
      {"atan", 1, {}, 4},
      {"sinh", 1, {}, 4},
      {"cosh", 1, {}, 4},
      {"tanh", 1, {}, 4},
      {"asinh", 1, {}, 4},
      {"acosh", 1, {}, 4},
      {"atanh", 1, {}, 4},
      {"erf", 1, {}, 4},
      {"erfc", 1, {}, 4},
      {"lgamma", 1, {}, 4, 1},
      {"digamma", 1, {}, 64, 1},
      {"erfinv", 1, {}, 8},
      {"special_ndtri", 1, {}, 8},
      {"special_erfcx", 1, {}, 1000},
      {"i0", 1, {}, 1000},
      {"special_i0e", 1, {}, 128},
      {"special_i1", 1, {}, 1000},
      {"special_i1e", 1, {}, 128},
      {"bessel_function", 1, [](Arguments& a) { a << Scalar(1); }, 16, 1, -1, false},
      {"bessel_function", 1, [](Arguments& a) { a << Scalar(4); }, 64, 1, -1, false},
      {"bessel_function", 1, [](Arguments& a) { a << Scalar(7); }, 64, 1, -1, false},
      {"bessel_function", 1, [](Arguments& a) { a << Scalar(8); }, 1e5, 1, -1, false},
      {"sigmoid", 1, {}, 6},
      {"gelu", 1, [](Arguments& a) { a << "none"; }, 80},
      {"gelu", 1, [](Arguments& a) { a << "tanh"; }, 80},
      {"softplus", 1, [](Arguments& a) { a << 2.0 << 4.0; }, 8},
      {"elu", 1, [](Arguments& a) { a << 0.5; }, 4},
      {"logsigmoid", 1, {}, 6},
      {"hardswish_backward", 2, {}, 2, 1},
      {"softshrink", 1, [](Arguments& a) { a << 0.5; }, 1},
      {"hardshrink", 1, [](Arguments& a) { a << 0.5; }},
      {"hardsigmoid", 1, {}, 2, 1},
      {"hardswish", 1, {}, 4, 1},
      {"nan_to_num", 1, [](Arguments& a) { a << 0.5 << 7.0 << -8.0; }},
      {"swish", 1, {}, 6},
      {"swish_backward", 2, {}, 8, 1},
      {"parabola_with_lines", 1, [](Arguments& a) { a << 1.5; }, 2, 1},
      {"add", 2, alpha, 1, 6},
      {"sub", 2, alpha, 1, 6},
      {"mul", 2},
      {"true_divide", 2},
      {"floor_divide", 2},
      {"trunc_divide", 2},
      {"remainder", 2, {}, 2},
      {"fmod", 2},
      {"gcd", 2},
      {"lcm", 2},
      {"pow", 2, {}, 4},
      {"atan2", 2, {}, 4},
      {"hypot", 2, {}, 4},
      {"copysign", 2},
      {"logaddexp_reals", 2, {}, 8, 1},
      {"nextafter", 2},
      {"lerp_reals", 3, {}, 4, 6},
      {"special_zeta", 2, {}, 4096},
      {"orthogonal_polynomial", 2, [](Arguments& a) { a << Scalar(2); }, 64, 100, -1, false},
      {"orthogonal_polynomial", 2, [](Arguments& a) { a << Scalar(5); }, 64, 1e4, -1, false},
      {"orthogonal_polynomial", 2, [](Arguments& a) { a << Scalar(8); }, 64, 1e4, -1, false},
      {"orthogonal_polynomial", 2, [](Arguments& a) { a << Scalar(10); }, 64, 100, -1, false},
      {"igamma", 2, {}, 4096, 1},
      {"igammac", 2, {}, 4096, 1},
      {"maximum", 2},
      {"minimum", 2},
      {"fmax", 2},
      {"fmin", 2},
      {"bitwise_left_shift", 2},
      {"bitwise_right_shift", 2},
      {"bitwise_and", 2},
      {"bitwise_or", 2},
      {"bitwise_xor", 2},
      {"logical_and", 2},
      {"logical_or", 2},
      {"logical_xor", 2},
      {"eq", 2},
      {"ne", 2},
      {"lt", 2},
      {"le", 2},
      {"gt", 2},
      {"ge", 2},
      {"sigmoid_backward", 2, {}, 4},
      {"tanh_backward", 2, {}, 4, 100},
      {"gelu_backward", 2, [](Arguments& a) { a << "none"; }, 80, 1},
      {"gelu_backward", 2, [](Arguments& a) { a << "tanh"; }, 80, 1},
      {"threshold_backward", 2, [](Arguments& a) { a << Scalar(0); }},
      {"where", 3, {}, 0, 0, 0},
      {"masked_fill", 3, {}, 0, 0, 1},
      {"clamp_between", 3},
      {"addcmul", 3, [](Arguments& a) { a << Scalar(3); }, 4, 100},
      {"addcdiv", 3, [](Arguments& a) { a << Scalar(3); }, 4, 100},
  };
  return cases;
}

/// What an elementwise kernel gets as params: the operands' places, then the attributes.
inline void fill_arguments(const ElementwiseCase& c, Arguments& arguments) {
  for (int p = 0; p < c.operands; ++p) arguments << nullptr;
  if (c.attributes) c.attributes(arguments);
}

/// Comparisons and predicates write bools, the others the dtype of their last operand.
inline DType result_dtype(const char* op, DType dtype) {
  static const char* const kPredicates[] = {"eq",    "ne",          "lt",         "le",          "gt",
                                            "ge",    "logical_and", "logical_or", "logical_xor", "logical_not",
                                            "isnan", "isinf",       "signbit"};
  for (const char* name : kPredicates) {
    if (std::string(name) == op) return DType::Bool;
  }
  return dtype;
}

/// Distance in units in the last place of `dtype` at the reference's value; 0 for equal NaNs and infinities.
inline double distance_in_ulps(double value, double reference, DType dtype, double scale = 0) {
  if (std::isnan(value) || std::isnan(reference)) return std::isnan(value) == std::isnan(reference) ? 0 : INFINITY;
  if (value == reference) return 0;
  if (!is_floating(dtype) || std::isinf(value) || std::isinf(reference)) return INFINITY;
  const double size = std::max(std::abs(reference), scale);
  const double ulp = dtype == DType::F32
                         ? std::nextafterf(static_cast<float>(size), INFINITY) - static_cast<float>(size)
                         : std::nextafter(size, INFINITY) - size;
  return std::abs(value - reference) / ulp;
}

}  // namespace terra::test
