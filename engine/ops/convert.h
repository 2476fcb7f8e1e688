// Copies: the same values in another dtype or other memory.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op to_dtype, type_as, copy, clone, contiguous, fill, fill_tensor, zero;

}  // namespace terra::ops
