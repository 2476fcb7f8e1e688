// Special functions of mathematics, applied to each element.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op lgamma, digamma, polygamma, polygamma_method, special_zeta, igamma, igammac;
extern const Op erfinv, special_ndtri, special_erfcx, special_log_ndtr, logit;
extern const Op special_ndtr, special_entr, special_xlog1py;
extern const Op i0, special_i0e, special_i1, special_i1e;

}  // namespace terra::ops
