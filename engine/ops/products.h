// Products of vectors and matrices added to something; distances.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op inner, addr, addmv, addbmm, dist, renorm;

}  // namespace terra::ops
