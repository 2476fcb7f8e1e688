// Fourier transforms of several lines at once, one line in each lane of a vector: point j of line l lies at
// [j * lanes + l], real and imaginary parts apart. The inner loops exist once per instruction set (kernels/cpu/isa.h).
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// One pass of Stockham's algorithm over radix * count * stride points.
struct FourierPass {
  int64_t radix, count, stride;
  int64_t first;  ///< where its factors begin: count rows of radix - 1 powers, each a real and an imaginary part
  int64_t roots;  ///< of a radix above 5: where exp(-2 pi i k / radix) begin
};
template <class R>
struct FourierPasses {
  const FourierPass* passes;
  int64_t count, points;
  const R* factors;
};
/// Two planes of points * lanes numbers.
template <class R>
struct LanePlanes {
  R *re, *im;
};

template <class R>
struct FourierLanes {
  int64_t lanes;
  /// X_k = sum_j x_j exp(-2 pi i j k / n). Both pairs of planes are overwritten; gives the one that has the result.
  LanePlanes<R> (*transform)(const FourierPasses<R>& passes, LanePlanes<R> from, LanePlanes<R> other);
  /// The first m + 1 points of the spectrum of 2 m real numbers, from that of the m complex ones that they are in
  /// pairs. turns: exp(-pi i k / m) for k <= m.
  void (*to_real_spectrum)(int64_t m, const R* turns, LanePlanes<R> to, LanePlanes<R> from);
  /// The inverse: what is transformed back to pairs of real numbers, from the first m + 1 points of their spectrum.
  void (*from_real_spectrum)(int64_t m, const R* turns, LanePlanes<R> to, LanePlanes<R> from);
};

TERRA_PER_ISA(extern const FourierLanes<float> fourier_lanes_f32; extern const FourierLanes<double> fourier_lanes_f64;)

/// The largest prime factor for which there is a pass.
inline constexpr int64_t kLargestRadix = 31;

}  // namespace terra::cpu
