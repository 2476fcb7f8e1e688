// Running totals and sorting.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op cumsum, cumsum_dtype, cumprod, cumprod_dtype;
extern const Op sort, argsort, topk, at_place, kthvalue, median_all, median_with_index;
extern const Op unique, unique_inverse, unique_counts, unique_inverse_counts, unique_rows, bincount;

}  // namespace terra::ops
