// Windows of images as the columns of a matrix.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// [N, C, H, W] -> [N, C * kh * kw, windows], and its transpose. Each is the gradient of the other.
extern const Op im2col, col2im;

}  // namespace terra::ops
