// Rarer functions of one or two numbers, applied to each element.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op asinh, acosh, atanh, exp2, sinc, mvlgamma;
extern const Op signbit, copysign, heaviside, nextafter, gcd, lcm, isneginf, isposinf;
extern const Op logaddexp2, float_power, float_power_here, ldexp, frexp_parts, frexp;

}  // namespace terra::ops
