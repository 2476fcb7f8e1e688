// Whole steps of optimizers over all parameters at once.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op sgd_update, adam_update;

}  // namespace terra::ops
