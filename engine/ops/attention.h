// Attention, and the similarity of vectors that it rests on.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op scaled_dot_product_attention, cosine_similarity;

}  // namespace terra::ops
