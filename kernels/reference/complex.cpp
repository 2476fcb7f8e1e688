// What the ops mean for complex numbers: computed in double precision and rounded once.
#include <cmath>
#include <complex>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

using Z = std::complex<double>;

Z attribute_of(const KernelArg* p, int i) { return p[i].number.to_complex(); }
/// The formulas, without the recovery of infinities that C's operators have.
Z times(Z a, Z b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }
Z over(Z a, Z b) {
  if (!std::isfinite(std::abs(a))) {  // part by part of the direction of b
    const Z turned = times(a, std::conj(b / std::abs(b)));
    return {turned.real() / std::abs(b), turned.imag() / std::abs(b)};
  }
  return a / b;
}
Z direction(Z x) { return x == 0.0 ? x : x / std::abs(x); }
Z exp_minus_one(Z x) {
  const double half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
}
Z log_one_plus(Z x) {
  if (std::abs(x) > 0.5) return std::log(1.0 + x);
  return {std::log1p(x.real() * (2 + x.real()) + x.imag() * x.imag()) / 2, std::atan2(x.imag(), 1 + x.real())};
}
Z power(Z x, Z y) { return y == 0.0 ? Z(1) : y == 2.0 ? x * x : y == 0.5 ? std::sqrt(x) : std::pow(x, y); }

/// N inputs of type T and an output of type Out, as loop() of real numbers has it; F computes with Z (of real inputs,
/// with double).
template <class T, class Out, int N, auto F>
void complex_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, Z>;
  for (int64_t i = 0; i < n; ++i) {
    const auto in = [&](int k) { return static_cast<Wide>(element<T>(data, strides, k, i)); };
    Out& out = element<Out>(data, strides, 0, i);
    if constexpr (N == 1) out = static_cast<Out>(apply<F>(params, in(1)));
    if constexpr (N == 2) out = static_cast<Out>(apply<F>(params, in(1), in(2)));
    if constexpr (N == 3) out = static_cast<Out>(apply<F>(params, in(1), in(2), in(3)));
  }
}

enum class Result { Complex, Real, Bool };

template <int N, auto F, Result R = Result::Complex>
consteval Kernel of_complex(std::string_view op) {
  Kernel k{.op = op};
  const auto put = [&]<class T>(DType dtype, T) {
    using Out =
        std::conditional_t<R == Result::Bool, bool, std::conditional_t<R == Result::Real, typename T::value_type, T>>;
    k.loops[static_cast<int>(dtype)] = complex_loop<T, Out, N, F>;
  };
  put(DType::C64, std::complex<float>());
  put(DType::C128, std::complex<double>());
  return k;
}

/// From two real numbers.
template <auto F>
consteval Kernel of_parts(std::string_view op) {
  Kernel k{.op = op};
  k.loops[static_cast<int>(DType::F32)] = complex_loop<float, std::complex<float>, 2, F>;
  k.loops[static_cast<int>(DType::F64)] = complex_loop<double, std::complex<double>, 2, F>;
  return k;
}

#define TERRA_COMPLEX_FUNCTION(name) of_complex<1, [](Z x) { return std::name(x); }>(#name)

constexpr Kernel kKernels[] = {
    of_complex<1, [](Z x) { return -x; }>("neg"),
    of_complex<1, [](Z x) { return std::conj(x); }>("conj_elements"),
    of_complex<1, [](Z x) { return std::abs(x); }, Result::Real>("abs"),
    of_complex<1, [](Z x) { return std::arg(x); }, Result::Real>("angle"),
    elementwise<1, [](double x) { return std::isnan(x) ? x
                                         : x < 0       ? M_PI
                                                       : 0; }, kFloats>("angle"),
    of_complex<1, direction>("sgn"),
    of_complex<1, [](Z x) { return over(1.0, x); }>("reciprocal"),
    of_complex<1, [](Z x) { return x == 0.0; }, Result::Bool>("logical_not"),
    of_complex<1, [](Z x) { return std::isnan(x.real()) || std::isnan(x.imag()); }, Result::Bool>("isnan"),
    of_complex<1, [](Z x) { return std::isinf(x.real()) || std::isinf(x.imag()); }, Result::Bool>("isinf"),
    of_complex<2, [](Z a, Z b, const KernelArg* p) { return a + times(attribute_of(p, 2), b); }>("add"),
    of_complex<2, [](Z a, Z b, const KernelArg* p) { return a - times(attribute_of(p, 2), b); }>("sub"),
    of_complex<2, times>("mul"),
    of_complex<2, over>("true_divide"),
    of_complex<2, power>("pow"),
    of_complex<2, [](Z a, Z b) { return a == b; }, Result::Bool>("eq"),
    of_complex<2, [](Z a, Z b) { return a != b; }, Result::Bool>("ne"),
    of_complex<2, [](Z a, Z b) { return a != 0.0 && b != 0.0; }, Result::Bool>("logical_and"),
    of_complex<2, [](Z a, Z b) { return a != 0.0 || b != 0.0; }, Result::Bool>("logical_or"),
    of_complex<2, [](Z a, Z b) { return (a != 0.0) != (b != 0.0); }, Result::Bool>("logical_xor"),
    of_complex<2, [](Z grad, Z y) { return times(times(grad, y), 1.0 - y); }>("sigmoid_backward"),
    of_complex<2, [](Z grad, Z y) { return times(grad, 1.0 - times(y, y)); }>("tanh_backward"),
    of_complex<3, [](Z self, Z a, Z b, const KernelArg* p) { return self + times(times(attribute_of(p, 3), a), b); }>(
        "addcmul"),
    of_complex<3, [](Z self, Z a, Z b, const KernelArg* p) { return self + over(times(attribute_of(p, 3), a), b); }>(
        "addcdiv"),
    of_parts<[](double real, double imag) { return Z(real, imag); }>("complex"),
    of_parts<[](double length, double angle) { return Z(length * std::cos(angle), length * std::sin(angle)); }>(
        "polar"),
    of_complex<1, exp_minus_one>("expm1"),
    of_complex<1, log_one_plus>("log1p"),
    of_complex<1, [](Z x) { return std::log(x) / M_LN2; }>("log2"),
    of_complex<1, [](Z x) { return 1.0 / std::sqrt(x); }>("rsqrt"),
    of_complex<1, [](Z x) { return 1.0 / (1.0 + std::exp(-x)); }>("sigmoid"),
    TERRA_COMPLEX_FUNCTION(exp),
    TERRA_COMPLEX_FUNCTION(log),
    TERRA_COMPLEX_FUNCTION(log10),
    TERRA_COMPLEX_FUNCTION(sqrt),
    TERRA_COMPLEX_FUNCTION(sin),
    TERRA_COMPLEX_FUNCTION(cos),
    TERRA_COMPLEX_FUNCTION(tan),
    TERRA_COMPLEX_FUNCTION(asin),
    TERRA_COMPLEX_FUNCTION(acos),
    TERRA_COMPLEX_FUNCTION(atan),
    TERRA_COMPLEX_FUNCTION(sinh),
    TERRA_COMPLEX_FUNCTION(cosh),
    TERRA_COMPLEX_FUNCTION(tanh),
    TERRA_COMPLEX_FUNCTION(asinh),
    TERRA_COMPLEX_FUNCTION(acosh),
    TERRA_COMPLEX_FUNCTION(atanh),
};

}  // namespace

std::span<const Kernel> complex_kernels() { return kKernels; }

}  // namespace terra::reference
