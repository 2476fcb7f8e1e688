// Distances between rows.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op distances, distances_backward;

}  // namespace terra::ops
