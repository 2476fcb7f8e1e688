// How far results are from what was wanted.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

/// What smooth_l1_loss and huber_loss add up.
extern const Op parabola_with_lines;
extern const Op mse_loss, l1_loss, smooth_l1_loss, huber_loss, kl_div;
extern const Op binary_cross_entropy, binary_cross_entropy_with_logits;
extern const Op nll_loss, nll_loss_forward, nll_loss_backward, cross_entropy, cross_entropy_backward;

}  // namespace terra::ops
