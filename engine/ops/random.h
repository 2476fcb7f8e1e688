// Draws from a generator; streams equal PyTorch's CPU streams.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op rand, randn, randint, randint_to, randperm, rand_like, randn_like, randint_like;
extern const Op bernoulli_fresh, normal, normal_by, normal_sized, normal_tensors, deviations, uniform, exponential,
    bernoulli, bernoulli_by, bernoulli_each;
extern const Op random_any, random_to, random_range, multinomial;
extern const Op dropout, dropout_mask, rrelu_noise;

}  // namespace terra::ops
