// Powers and transcendental functions of complex numbers: the C library's, which know the branches and the special
// values.
#include "kernels/cpu/complex_number.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/loop.h"

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

#define TERRA_COMPLEX_FUNCTION(Name, expression)   \
  template <class C>                               \
  struct Name : Plain<C> {                         \
    using Plain<C>::Plain;                         \
    C operator()(C x) const { return expression; } \
  };

/// exp(x) - 1, exact near 0.
template <class R>
std::complex<R> exp_minus_one(std::complex<R> x) {
  const R half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
}

/// log(1 + x), exact near 0: |1 + x|^2 - 1 = re (2 + re) + im^2.
template <class R>
std::complex<R> log_one_plus(std::complex<R> x) {
  const R re = x.real(), im = x.imag();
  if (std::abs(re) > R(0.5) || std::abs(im) > R(0.5)) return std::log(R(1) + x);
  return {std::log1p(re * (2 + re) + im * im) / 2, std::atan2(im, 1 + re)};
}

TERRA_COMPLEX_FUNCTION(Exp, std::exp(x))
TERRA_COMPLEX_FUNCTION(Expm1, exp_minus_one(x))
TERRA_COMPLEX_FUNCTION(Log, std::log(x))
TERRA_COMPLEX_FUNCTION(Log2, std::log(x) / static_cast<typename C::value_type>(M_LN2))
TERRA_COMPLEX_FUNCTION(Log10, std::log10(x))
TERRA_COMPLEX_FUNCTION(Log1p, log_one_plus(x))
TERRA_COMPLEX_FUNCTION(Sqrt, std::sqrt(x))
TERRA_COMPLEX_FUNCTION(Rsqrt, over(C(1), std::sqrt(x)))
TERRA_COMPLEX_FUNCTION(Sin, std::sin(x))
TERRA_COMPLEX_FUNCTION(Cos, std::cos(x))
TERRA_COMPLEX_FUNCTION(Tan, std::tan(x))
TERRA_COMPLEX_FUNCTION(Asin, std::asin(x))
TERRA_COMPLEX_FUNCTION(Acos, std::acos(x))
TERRA_COMPLEX_FUNCTION(Atan, std::atan(x))
TERRA_COMPLEX_FUNCTION(Sinh, std::sinh(x))
TERRA_COMPLEX_FUNCTION(Cosh, std::cosh(x))
TERRA_COMPLEX_FUNCTION(Tanh, std::tanh(x))
TERRA_COMPLEX_FUNCTION(Asinh, std::asinh(x))
TERRA_COMPLEX_FUNCTION(Acosh, std::acosh(x))
TERRA_COMPLEX_FUNCTION(Atanh, std::atanh(x))
TERRA_COMPLEX_FUNCTION(Sigmoid, over(C(1), C(1) + std::exp(-x)))

/// The common exponents are computed the short way.
template <class C>
struct Pow : Plain<C> {
  using Plain<C>::Plain;
  C operator()(C x, C y) const {
    if (y.imag() == 0) {
      const auto exponent = y.real();
      if (exponent == 0) return C(1);
      if (exponent == 1) return x;
      if (exponent == 2) return times(x, x);
      if (exponent == 3) return times(times(x, x), x);
      if (exponent == 0.5) return std::sqrt(x);
      if (exponent == -1) return over(C(1), x);
    }
    return C(std::pow(std::complex<double>(x), std::complex<double>(y)));
  }
};

#define TERRA_COMPLEX std::complex<float>, std::complex<double>

constexpr Kernel kKernels[] = {
    unary<Exp, TERRA_COMPLEX>("exp", 80),      unary<Expm1, TERRA_COMPLEX>("expm1", 120),
    unary<Log, TERRA_COMPLEX>("log", 100),     unary<Log2, TERRA_COMPLEX>("log2", 100),
    unary<Log10, TERRA_COMPLEX>("log10", 100), unary<Log1p, TERRA_COMPLEX>("log1p", 100),
    unary<Sqrt, TERRA_COMPLEX>("sqrt", 60),    unary<Rsqrt, TERRA_COMPLEX>("rsqrt", 70),
    unary<Sin, TERRA_COMPLEX>("sin", 120),     unary<Cos, TERRA_COMPLEX>("cos", 120),
    unary<Tan, TERRA_COMPLEX>("tan", 120),     unary<Asin, TERRA_COMPLEX>("asin", 200),
    unary<Acos, TERRA_COMPLEX>("acos", 200),   unary<Atan, TERRA_COMPLEX>("atan", 200),
    unary<Sinh, TERRA_COMPLEX>("sinh", 120),   unary<Tanh, TERRA_COMPLEX>("tanh", 120),
    unary<Cosh, TERRA_COMPLEX>("cosh", 120),   unary<Sigmoid, TERRA_COMPLEX>("sigmoid", 90),
    unary<Asinh, TERRA_COMPLEX>("asinh", 200), unary<Acosh, TERRA_COMPLEX>("acosh", 200),
    unary<Atanh, TERRA_COMPLEX>("atanh", 200), binary<Pow, TERRA_COMPLEX>("pow", 255),
};

}  // namespace

std::span<const Kernel> complex_math_kernels() { return kKernels; }

}  // namespace terra::cpu
