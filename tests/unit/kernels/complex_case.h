// Every elementwise op of complex numbers, and how they are made of real ones.
#pragma once
#include <functional>

#include "tests/unit/kernels/kernel_case.h"

namespace terra::test {

enum class ComplexResult { Complex, Real, Bool };

struct ComplexCase {
  const char* op;
  int operands;
  ComplexResult result = ComplexResult::Complex;
  bool of_parts = false;  ///< the operands are real
  std::function<void(Arguments&)> attributes = [](Arguments&) {};
};

inline const std::vector<ComplexCase>& complex_cases() {
  static const auto factor = [](Arguments& a) { a << Scalar(std::complex<double>(2, -1)); };
  using enum ComplexResult;
  static const std::vector<ComplexCase> cases = {
      {"neg", 1},
      {"conj_elements", 1},
      {"abs", 1, Real},
      {"angle", 1, Real},
      {"sgn", 1},
      {"reciprocal", 1},
      {"sqrt", 1},
      {"rsqrt", 1},
      {"exp", 1},
      {"expm1", 1},
      {"log", 1},
      {"log2", 1},
      {"log10", 1},
      {"log1p", 1},
      {"sin", 1},
      {"cos", 1},
      {"tan", 1},
      {"asin", 1},
      {"acos", 1},
      {"atan", 1},
      {"sinh", 1},
      {"cosh", 1},
      {"tanh", 1},
      {"asinh", 1},
      {"acosh", 1},
      {"atanh", 1},
      {"sigmoid", 1},
      {"logical_not", 1, Bool},
      {"isnan", 1, Bool},
      {"isinf", 1, Bool},
      {"add", 2, Complex, false, factor},
      {"sub", 2, Complex, false, factor},
      {"mul", 2},
      {"true_divide", 2},
      {"pow", 2},
      {"eq", 2, Bool},
      {"ne", 2, Bool},
      {"logical_and", 2, Bool},
      {"logical_or", 2, Bool},
      {"logical_xor", 2, Bool},
      {"sigmoid_backward", 2},
      {"tanh_backward", 2},
      {"complex", 2, Complex, true},
      {"polar", 2, Complex, true},
      {"addcmul", 3, Complex, false, factor},
      {"addcdiv", 3, Complex, false, factor},
  };
  return cases;
}

}  // namespace terra::test
