// A library of random draws, number for number those of PyTorch's CPU generator: same seed, same stream, same values.
//
// Every draw advances the state by exactly as many words as PyTorch would, so that any sequence of calls agrees.
// Outputs are contiguous. Not thread-safe: a state belongs to one caller at a time.
#pragma once
#include <cstdint>
#include <tuple>

#include "kernels/abi/random_state.h"

namespace terra {

/// Draws of n numbers of one type. Null where a type has no such draw: normal, exponential, uniform and what takes
/// probabilities or weights are of float and double.
template <class T>
struct Draws {
  /// Uniform in [low, high): one word for each float, two for each double.
  void (*uniform)(RandomState& state, T* out, int64_t n, double low, double high);
  /// Normal. Draws of 16 and more into contiguous memory take PyTorch's blocked recipe, others the one by pairs; pass
  /// `blocked` false for what will land in a strided tensor.
  void (*normal)(RandomState& state, T* out, int64_t n, double mean, double deviation, bool blocked);
  /// Exponential of rate lambda.
  void (*exponential)(RandomState& state, T* out, int64_t n, double lambda);
  /// 1 with probability p[i].
  void (*bernoulli_each)(RandomState& state, T* out, const T* p, int64_t n);
  /// What is wrong with a row of weights, in PyTorch's words; null if it can be sampled from.
  const char* (*multinomial_error)(const T* weights, int64_t n, bool replacement);
  /// `samples` indices drawn with probability proportional to `weights` (n of them, checked by multinomial_error, which
  /// callers do first for all rows). PyTorch draws all rows of a matrix one after the other in the recipe with
  /// replacement, and one exponential for every weight of every row, before any row is looked at, in the other one: the
  /// function therefore takes the whole matrix. Without replacement samples <= n.
  void (*multinomial)(RandomState& state, int64_t* out, const T* weights, int64_t rows, int64_t n, int64_t samples,
                      bool replacement);

  /// Uniform integers in [low, high); high > low. Not of bool.
  void (*randint)(RandomState& state, T* out, int64_t n, int64_t low, int64_t high);
  /// The range of `random_()` without bounds: all values >= 0 that T represents exactly together with its neighbours.
  void (*full_range)(RandomState& state, T* out, int64_t n);
  /// 1 with probability p, else 0.
  void (*bernoulli)(RandomState& state, T* out, int64_t n, double p);
  /// Dropout's draw: out[i] = `scale` with probability p, else 0. The same words as `bernoulli`.
  void (*bernoulli_scaled)(RandomState& state, T* out, int64_t n, double p, T scale);
};

/// Draws of one number, by rejection and by inversion, and the slopes that samples of gamma and beta variables have in
/// their parameters.
struct DrawsOfOne {
  /// A gamma variable of scale 1 (Marsaglia and Tsang, 2000). alpha >= 0.
  double (*standard_gamma)(RandomState& state, double alpha);
  /// A Poisson variable: products of uniforms below a rate of 10, else transformed rejection (Hormann, 1993).
  double (*poisson)(RandomState& state, double rate);
  /// Successes among `count` trials: gaps between successes for few expected ones, else transformed rejection.
  double (*binomial)(RandomState& state, double count, double p);
  /// Trials until the first success, at least 1. 0 < p < 1.
  double (*geometric)(RandomState& state, double p);
  double (*cauchy)(RandomState& state, double median, double sigma);
  /// e to the power of a normal variable.
  double (*log_normal)(RandomState& state, double mean, double deviation);

  /// d x / d alpha of a sample x of the gamma variable, its place in the distribution held:
  /// -(d/d alpha P(x; alpha)) / density(x).
  double (*standard_gamma_slope)(double alpha, double x);
  /// The same for a sample x of Beta(alpha, total - alpha), divided by 1 - x: what a Dirichlet sample needs.
  double (*dirichlet_slope)(double x, double alpha, double total);
};

struct DrawLibrary {
  /// Starts the stream of `seed` and forgets a cached normal.
  void (*seed)(RandomState& state, uint64_t seed);
  /// A random permutation of 0 .. n-1.
  void (*permutation)(RandomState& state, int64_t* out, int64_t n);
  std::tuple<Draws<float>, Draws<double>, Draws<int64_t>, Draws<int32_t>, Draws<int16_t>, Draws<int8_t>, Draws<uint8_t>,
             Draws<bool>>
      of_many;
  DrawsOfOne of_one;
};

}  // namespace terra
