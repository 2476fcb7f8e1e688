// Summaries of windows of the last two or three dimensions.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op max_pool2d, max_pool2d_with_indices, avg_pool2d, adaptive_avg_pool2d, interpolate_nearest2d;
extern const Op max_pool3d, max_pool3d_with_indices, avg_pool3d, adaptive_avg_pool3d;
extern const Op adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices;
/// The gradients of pooling; each is linear in `grad`.
extern const Op max_pool2d_backward, avg_pool2d_backward, adaptive_avg_pool2d_backward;

}  // namespace terra::ops
