// The largest, the smallest and the log of the sum of exponentials of each element and all before it.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op cummax, cummin, logcumsumexp;

}  // namespace terra::ops
