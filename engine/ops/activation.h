// Nonlinear functions between the layers of networks.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op relu, gelu, softplus, leaky_relu, elu;
extern const Op silu, hardtanh, relu6, logsigmoid, mish, selu, celu, hardsigmoid, hardswish, prelu, glu, threshold;
extern const Op softsign, tanhshrink, softshrink, hardshrink;
extern const Op softmax, log_softmax, softmax_dtype, log_softmax_dtype, softmin;

extern const Op gelu_backward, swish, swish_backward;
/// grad where self > threshold, else 0.
extern const Op threshold_backward;
/// The gradients of softmax and log_softmax, from their results.
extern const Op softmax_backward, log_softmax_backward;

}  // namespace terra::ops
