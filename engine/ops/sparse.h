// Products with matrices that are given by their entries.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op coo_mm;

}  // namespace terra::ops
