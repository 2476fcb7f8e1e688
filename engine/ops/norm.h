// Layers that bring activations to mean 0 and variance 1.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op batch_norm, batch_norm_stats, batch_norm_apply, batch_norm_backward;
extern const Op layer_norm, layer_norm_backward, group_norm, group_norm_rows, group_norm_backward, rms_norm;

}  // namespace terra::ops
