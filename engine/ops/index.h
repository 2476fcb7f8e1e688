// Elements picked and placed by index tensors.
#pragma once
#include <span>

#include "engine/ops/op.h"

namespace terra::ops {

extern const Op index_select, index_add, index_fill, index_fill_tensor, gather, take_along_dim, take;
extern const Op scatter, scatter_value, scatter_add;
extern const Op index, index_put, advanced_index, advanced_index_put;
extern const Op masked_select, nonzero, nonzero_tuple, where_true, index_put_masked, one_hot, repeat_index;
extern const Op embedding, embedding_forward, embedding_backward;

/// A call of embedding_forward whose table gets a sparse gradient.
bool is_sparse_look_up(const Op& op, std::span<const Arg> args);

}  // namespace terra::ops
