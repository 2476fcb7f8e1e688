// Tensors from nothing but numbers.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// full, zeros, ones and empty take their dtype last: zeros(sizes, dtype).
extern const Op empty, full, zeros, ones, arange, arange_to, linspace, logspace, eye;
extern const Op empty_like, full_like, zeros_like, ones_like;
extern const Op new_empty, new_full, new_zeros, new_ones;
extern const Op tril, triu;

}  // namespace terra::ops
