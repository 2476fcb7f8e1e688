// Normalization: values brought to mean 0 and variance 1 over a batch, a layer or a group.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op batch_norm, layer_norm, group_norm;

/// Mean, 1 / sqrt(var + eps) and var of each channel.
extern const Op batch_norm_stats;
/// (input - mean) * invstd * weight + bias with the input's own statistics; its gradient includes theirs.
extern const Op batch_norm_apply;
extern const Op batch_norm_backward, layer_norm_backward;

}  // namespace terra::ops
