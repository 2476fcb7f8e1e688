// Statistics by order: quantiles, the median and the mean of what is a number, the most frequent element.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op quantile, nanquantile, nanmean, nanmedian_all, nanmedian_with_index, mode;

}  // namespace terra::ops
