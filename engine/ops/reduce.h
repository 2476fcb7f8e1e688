// Many elements become one, along dimensions.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op sum_of_squares, sum_of_numbers;
extern const Op sum, sum_dtype, sum_to_size, prod, prod_dtype, mean, any, all;
extern const Op amax, amin, max_all, min_all, max_with_index, min_with_index, argmax, argmin, aminmax;
extern const Op var, var_unbiased, var_dim_unbiased, std, std_unbiased, std_dim_unbiased, var_mean, std_mean;
extern const Op var_mean_unbiased, std_mean_unbiased, var_mean_dim_unbiased, std_mean_dim_unbiased;
extern const Op norm, norm_named, logsumexp, count_nonzero, nansum;

}  // namespace terra::ops
