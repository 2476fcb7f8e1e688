// Recurrent layers over whole sequences.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op lstm_layer, lstm_layer_backward;

}  // namespace terra::ops
