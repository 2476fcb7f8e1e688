// Arithmetic of complex numbers as formulas have it: without the recovery of infinities that C's operators pay for.
#pragma once
#include <cmath>
#include <complex>

#include "kernels/abi/kernel.h"
#include "kernels/abi/real_part.h"

namespace terra::cpu {

/// The conjugate of a number of either kind, in its own type.
template <class T>
T conjugate_of(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}

template <class R>
[[gnu::always_inline]] inline std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// The divisor is measured by the mean of its parts, so that no square overflows: shares of at most 2, which is what an
/// infinite part (the share NaN) has as well. By 0 each part is divided for itself. Choices that take no branch.
template <class R>
[[gnu::always_inline]] inline std::complex<R> over(std::complex<R> a, std::complex<R> b) {
  const R re = std::abs(b.real()), im = std::abs(b.imag()), mean = R(0.5) * re + R(0.5) * im;
  const R measure = mean == 0 ? R(1) : mean;
  const R re_share = re / measure, im_share = im / measure;
  const R c = std::copysign(re_share < 2 ? re_share : R(2), b.real());
  const R d = std::copysign(im_share < 2 ? im_share : R(2), b.imag());
  const R length = (c * c + d * d) * measure;
  const R real = mean == 0 ? a.real() : a.real() * c + a.imag() * d;
  const R imag = mean == 0 ? a.imag() : a.imag() * c - a.real() * d;
  return {real / length, imag / length};
}

/// The number in argument i of an op.
template <class C>
C complex_attribute(const KernelArg* params, int i) {
  return C(params[i].number.to_complex());
}

}  // namespace terra::cpu
