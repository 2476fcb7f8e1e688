// Elements picked and placed by index tensors.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op index_select, index_add, index_fill, index_fill_tensor, gather, take_along_dim, take;
extern const Op scatter, scatter_value, scatter_add;
extern const Op index, index_put, advanced_index, advanced_index_put;
extern const Op masked_select, nonzero, nonzero_tuple, where_true, index_put_masked, one_hot, repeat_index;
extern const Op embedding, embedding_forward, embedding_backward;

}  // namespace terra::ops
