// Connectionist temporal classification.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// The loss of every sample, and the gradient of log_probs.
extern const Op ctc_loss_each, ctc_loss_backward;

}  // namespace terra::ops
