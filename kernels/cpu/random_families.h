// Draws by rejection and by inversion, number for number those of PyTorch's CPU generator, and the slopes that samples
// of gamma and beta variables have in their parameters.
#pragma once
#include "kernels/abi/random_state.h"

namespace terra::random {

/// A gamma variable of scale 1 (Marsaglia and Tsang, 2000). alpha >= 0.
double standard_gamma(RandomState& state, double alpha);
/// A Poisson variable: products of uniforms below a rate of 10, else transformed rejection (Hormann, 1993).
double poisson(RandomState& state, double rate);
/// Successes among `count` trials: gaps between successes for few expected ones, else transformed rejection.
double binomial(RandomState& state, double count, double p);
/// Trials until the first success, at least 1. 0 < p < 1.
double geometric(RandomState& state, double p);
double cauchy(RandomState& state, double median, double sigma);
/// e to the power of a normal variable.
double log_normal(RandomState& state, double mean, double deviation);

/// d x / d alpha of a sample x of the gamma variable, its place in the distribution held:
/// -(d/d alpha P(x; alpha)) / density(x).
double standard_gamma_slope(double alpha, double x);
/// The same for a sample x of Beta(alpha, total - alpha), divided by 1 - x: what a Dirichlet sample needs.
double dirichlet_slope(double x, double alpha, double total);

}  // namespace terra::random
