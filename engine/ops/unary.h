// Functions of one number, applied to each element.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op exp, expm1, log, log2, log10, log1p, sqrt, rsqrt, reciprocal, square;
extern const Op sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, sigmoid, erf, erfc;
extern const Op neg, abs, sign, floor, ceil, round, round_decimals, trunc, frac, positive, deg2rad, rad2deg;

/// grad * d tanh/dx and grad * d sigmoid/dx, from the result.
extern const Op tanh_backward, sigmoid_backward;

}  // namespace terra::ops
