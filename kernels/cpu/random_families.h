// The draws of one number of kernels/abi/draws.h, by their names there.
#pragma once
#include "kernels/abi/random_state.h"

namespace terra::random {

double standard_gamma(RandomState& state, double alpha);
double poisson(RandomState& state, double rate);
double binomial(RandomState& state, double count, double p);
double geometric(RandomState& state, double p);
double cauchy(RandomState& state, double median, double sigma);
double log_normal(RandomState& state, double mean, double deviation);

double standard_gamma_slope(double alpha, double x);
double dirichlet_slope(double x, double alpha, double total);

}  // namespace terra::random
