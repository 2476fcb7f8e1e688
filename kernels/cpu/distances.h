// The library of kernels/abi/distances.h, and its inner loops.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace terra::cpu {

/// Loops over the columns of two rows, in the norm of order p: 0 counts differences, infinity takes the largest one.
template <class T>
struct DistanceLoops {
  /// |a - b| for `count` rows b that lie behind each other.
  void (*distances)(double p, int64_t columns, const T* a, const T* b, int64_t count, T* out);
  /// The same of rows that are columns of b, whose rows lie `stride` apart; p is 0, 1, 2 or infinity.
  void (*distances_of_columns)(double p, int64_t columns, const T* a, const T* b, int64_t stride, int64_t count,
                               T* out);
  /// Adds g * d|a - b| / da to `out` for `count` rows b, `distances` being |a - b|; nothing where that is zero.
  void (*add_slopes)(double p, int64_t columns, const T* a, const T* b, const T* distances, const T* g, int64_t count,
                     T* out);
};
TERRA_PER_ISA(extern const DistanceLoops<float> distance_loops_f32;
              extern const DistanceLoops<double> distance_loops_f64;)

template <class T>
void distances(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others, T* out);
template <class T>
void distances_backward(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others,
                        const T* g, const T* distances, T* out);

}  // namespace terra::cpu
