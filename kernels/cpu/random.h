// Random draws, number for number those of PyTorch's CPU generator: same seed, same stream, same values.
//
// Every function advances the state by exactly as many words as PyTorch would, so that any sequence of calls agrees.
// Outputs are contiguous. Not thread-safe: a state belongs to one caller at a time.
#pragma once
#include <cstdint>

#include "kernels/abi/random_state.h"

namespace terra::random {

/// Starts the stream of `seed` and forgets a cached normal.
void seed(RandomState& state, uint64_t seed);

/// The next word; the next two words, high one first.
uint32_t next32(RandomState& state);
uint64_t next64(RandomState& state);
/// Uniform in [0, 1) with 53 random bits, from two words.
double uniform53(RandomState& state);

/// Uniform in [low, high). T: float (one word each), double (two).
template <class T>
void uniform(RandomState& state, T* out, int64_t n, double low, double high);

/// Normal. Draws of 16 and more into contiguous memory take PyTorch's blocked recipe, others the one by pairs; pass
/// `blocked` false for what will land in a strided tensor. T: float, double.
template <class T>
void normal(RandomState& state, T* out, int64_t n, double mean, double deviation, bool blocked = true);

/// Uniform integers in [low, high); high > low. T: any integer type, float, double.
template <class T>
void randint(RandomState& state, T* out, int64_t n, int64_t low, int64_t high);

/// The range of `random_()` without bounds: all values >= 0 that T represents exactly together with its neighbours.
/// T: any integer type, float, double, bool.
template <class T>
void random_full_range(RandomState& state, T* out, int64_t n);

/// A random permutation of 0 .. n-1.
void randperm(RandomState& state, int64_t* out, int64_t n);

/// 1 with probability p, else 0. T: float, double, bool, any integer type.
template <class T>
void bernoulli(RandomState& state, T* out, int64_t n, double p);
/// Dropout's draw: out[i] = `scale` with probability p, else 0. The same words as `bernoulli`.
template <class T>
void bernoulli_scaled(RandomState& state, T* out, int64_t n, double p, T scale);
/// 1 with probability p[i]. T: float, double.
template <class T>
void bernoulli_each(RandomState& state, T* out, const T* p, int64_t n);

/// Exponential of rate lambda. T: float, double.
template <class T>
void exponential(RandomState& state, T* out, int64_t n, double lambda);

/// What is wrong with a row of weights, in PyTorch's words; null if it can be sampled from.
template <class T>
const char* multinomial_error(const T* weights, int64_t n);
/// `samples` indices drawn with probability proportional to `weights` (n of them, checked by multinomial_error, which
/// callers do first for all rows). PyTorch draws all rows of a matrix one after the other in the recipe with
/// replacement, and one exponential for every weight of every row, before any row is looked at, in the other one: the
/// function therefore takes the whole matrix. Without replacement samples <= n.
template <class T>
void multinomial(RandomState& state, int64_t* out, const T* weights, int64_t rows, int64_t n, int64_t samples,
                 bool replacement);

}  // namespace terra::random
