// Products of matrices.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op mm, bmm, matmul, dot, vdot, mv, outer, addmm, baddbmm, linear;

}  // namespace terra::ops
