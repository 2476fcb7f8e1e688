// Discrete Fourier transforms: what terra.fft is written in.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// Of complex numbers, of real numbers (all of the spectrum or the half that says it all), and from such a half back to
/// real numbers. The dimensions are transformed one after the other, the last one halved; `scale` multiplies the
/// result.
extern const Op fft_c2c, fft_r2c, fft_c2r;

}  // namespace terra::ops
