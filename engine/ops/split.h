// Cutting a tensor into views of its parts.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op split, split_sizes, chunk, unbind, tensor_split, tensor_split_at, tensor_split_tensor;

}  // namespace terra::ops
