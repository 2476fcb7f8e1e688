// Places among sorted numbers, and how many numbers lie between them.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op places_among, searchsorted, searchsorted_number, bucketize, bucketize_number;
extern const Op histc, histogram, histogram_edges, unique_consecutive, unique_consecutive_inverse,
    unique_consecutive_counts, unique_consecutive_inverse_counts;

}  // namespace terra::ops
