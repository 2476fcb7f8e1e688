// Questions about elements, and the logic of their answers.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op eq, ne, lt, le, gt, ge;
extern const Op isnan, isinf, isfinite, isclose;
extern const Op logical_and, logical_or, logical_xor, logical_not;
extern const Op bitwise_and, bitwise_or, bitwise_xor, bitwise_not, bitwise_left_shift, bitwise_right_shift;

}  // namespace terra::ops
