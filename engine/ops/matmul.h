// Products of matrices.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// Throws unless what a product is added to and its factors have one dtype.
void check_same_dtypes(DType self, DType mat1, DType mat2);

extern const Op mm, bmm, matmul, dot, vdot, mv, outer, addmm, baddbmm, linear;

}  // namespace terra::ops
