// Convolution over the last one or two dimensions.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// conv2d takes batches [N, C, H, W]; conv2d_batched, which Python sees under its name, single images too.
extern const Op conv1d, conv2d, conv2d_batched, conv_transpose1d, conv_transpose2d;
/// The adjoints of conv2d: with respect to its input and to its weight.
extern const Op conv2d_backward_input, conv2d_backward_weight;

}  // namespace terra::ops
