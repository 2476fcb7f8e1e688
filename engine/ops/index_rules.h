// What ops that place elements by index ask of their operands.
#pragma once
#include "engine/ops/inference.h"

namespace terra::ops {

/// Of (self, dim, index, src): one dtype, an index of int64 or int32 of self's and src's rank, no larger than src, and
/// than self only along dim.
void check_scatter(Inference& f);

}  // namespace terra::ops
