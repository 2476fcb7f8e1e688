// A library of distances between rows of two matrices in a norm of any order, and what they are derived by. Matrices
// lie row by row without gaps.
#pragma once
#include <cstdint>
#include <tuple>

namespace terra {

/// T: float, double.
template <class T>
struct Distances {
  /// out[i, j] = |a_i - b_j|, or, for pairs, |a_i - a_j| for all j > i behind each other. The norm of order p: 0 counts
  /// differences, infinity takes the largest one.
  void (*forward)(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others, T* out);
  /// The derivative of sum g * distances by a.
  void (*backward)(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others,
                   const T* g, const T* distances, T* out);
};

using DistanceLibrary = std::tuple<Distances<float>, Distances<double>>;

}  // namespace terra
