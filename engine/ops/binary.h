// Arithmetic of two numbers, applied to each pair of broadcast elements.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op add, sub, rsub, mul, true_divide, floor_divide, trunc_divide, div, remainder, fmod, pow;
extern const Op maximum, minimum, fmax, fmin, atan2, hypot, logaddexp, xlogy;
extern const Op lerp, addcmul, addcdiv;

}  // namespace terra::ops
