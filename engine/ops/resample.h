// Sums of weighted elements: what resizing, and reading images at any places, are made of.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// Along a dimension. Each is the gradient of the other.
extern const Op resample, resample_backward;

/// The places and weights that sample reads images at, from grids.
extern const Op grid_taps;

/// Of images, at other places in each. The others are its gradients, and all three are made of each other's.
extern const Op sample, sample_image_gradient, sample_weight_gradient;

}  // namespace terra::ops
