// The stream (mt19937), and the draws of kernels/abi/draws.h over it.
#pragma once
#include <cstdint>

#include "kernels/abi/random_state.h"

namespace terra::random {

void seed(RandomState& state, uint64_t seed);

/// The next word; the next two words, high one first.
uint32_t next32(RandomState& state);
uint64_t next64(RandomState& state);
/// Uniform in [0, 1) with 53 random bits, from two words.
double uniform53(RandomState& state);

// T: float, double.
template <class T>
void uniform(RandomState& state, T* out, int64_t n, double low, double high);
template <class T>
void normal(RandomState& state, T* out, int64_t n, double mean, double deviation, bool blocked = true);
template <class T>
void exponential(RandomState& state, T* out, int64_t n, double lambda);
template <class T>
void bernoulli_each(RandomState& state, T* out, const T* p, int64_t n);
template <class T>
const char* multinomial_error(const T* weights, int64_t n, bool replacement);
template <class T>
void multinomial(RandomState& state, int64_t* out, const T* weights, int64_t rows, int64_t n, int64_t samples,
                 bool replacement);

// T: any integer type, float, double; but for randint bool.
template <class T>
void randint(RandomState& state, T* out, int64_t n, int64_t low, int64_t high);
template <class T>
void random_full_range(RandomState& state, T* out, int64_t n);
template <class T>
void bernoulli(RandomState& state, T* out, int64_t n, double p);
template <class T>
void bernoulli_scaled(RandomState& state, T* out, int64_t n, double p, T scale);

void randperm(RandomState& state, int64_t* out, int64_t n);

}  // namespace terra::random
