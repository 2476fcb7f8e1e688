// Whether elements fill the memory that they lie in.
#pragma once
#include <span>

#include "engine/tensor/dims.h"

namespace terra {

/// The dimensions from the one with the longest steps to the one with the shortest; those that step alike in order.
Dims from_outer_to_inner(std::span<const int64_t> strides);

/// Whether the strides lead to each place of a range of memory once, in whatever order of dimensions.
bool leave_no_gaps(const Dims& sizes, const Dims& strides);

}  // namespace terra
