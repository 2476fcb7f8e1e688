// Choosing between values, element by element.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op where, where_method, clamp, clamp_tensor, clamp_between, clamp_min, clamp_max, nan_to_num;
extern const Op masked_fill, masked_fill_tensor;

}  // namespace terra::ops
