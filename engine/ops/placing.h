// Elements put into a copy of a tensor: combined by index, by mask, in the place of a view.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op scatter_combine, scatter_reduce, scatter_named, scatter_value_named, index_reduce;
extern const Op index_copy, masked_scatter, put, fill_diagonal;
extern const Op slice_scatter, select_scatter, diagonal_scatter, as_strided_scatter;

}  // namespace terra::ops
