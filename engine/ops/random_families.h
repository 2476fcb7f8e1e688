// Draws from families of distributions whose parameters are tensors, and the gradients of such samples.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

extern const Op poisson, binomial, standard_gamma, standard_gamma_grad, sample_dirichlet, dirichlet_grad;
extern const Op cauchy, geometric, log_normal;

}  // namespace terra::ops
