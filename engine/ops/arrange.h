// Tensors joined, split, turned and repeated along particular dimensions; views under another dtype.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op broadcast_to, column_stack, dstack, flipud, fliplr, diagflat, kron, msort;
extern const Op hsplit, hsplit_at, vsplit, vsplit_at, dsplit, dsplit_at;
extern const Op tril_indices, triu_indices, view_dtype;

}  // namespace terra::ops
