// What observations and points of a curve tell: areas below curves, covariances.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op trapezoid, trapezoid_x, cumulative_trapezoid, cumulative_trapezoid_x, cov, corrcoef;

}  // namespace terra::ops
