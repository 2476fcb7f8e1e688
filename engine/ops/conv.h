// Convolution over the last one to three dimensions.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// conv2d takes batches [N, C, H, W] and conv3d [N, C, D, H, W]; conv2d_batched and conv3d_batched, which Python sees
/// under their names, single images and volumes too.
extern const Op conv1d, conv2d, conv2d_batched, conv3d, conv3d_batched;
extern const Op conv_transpose1d, conv_transpose2d, conv_transpose3d;
/// The adjoints: with respect to the input and to the weight.
extern const Op conv2d_backward_input, conv2d_backward_weight, conv3d_backward_input, conv3d_backward_weight;

}  // namespace terra::ops
