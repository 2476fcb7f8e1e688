// How wrong a prediction is.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op nll_loss, cross_entropy, mse_loss, l1_loss, smooth_l1_loss, huber_loss;
extern const Op binary_cross_entropy, binary_cross_entropy_with_logits, kl_div;

/// The loss and the total weight that it was divided by.
extern const Op nll_loss_forward;
extern const Op nll_loss_backward;

}  // namespace terra::ops
