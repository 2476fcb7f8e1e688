#include "kernels/cpu/distances.h"

#include <algorithm>
#include <type_traits>

#include "kernels/abi/parallel.h"

namespace terra::cpu {
namespace {

template <class T>
const DistanceLoops<T>& loops() {
  if constexpr (std::is_same_v<T, float>)
    return *TERRA_PICK(distance_loops_f32);
  else
    return *TERRA_PICK(distance_loops_f64);
}

/// Where the pairs of row i with those behind it begin.
int64_t first_pair(int64_t i, int64_t rows) { return i * rows - i * (i + 1) / 2; }

/// Rows that are worth a thread, at a quarter nanosecond or, in powers, some nanoseconds for each difference.
int64_t grain(double p, int64_t columns, int64_t others) {
  const bool plain = p == 0 || p == 1 || p == 2 || p > 1e300;
  return std::max<int64_t>(1, grain_for_cost(plain ? 1 : 40) / std::max<int64_t>(1, columns * others));
}

}  // namespace

template <class T>
void distances(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others, T* out) {
  parallel_for(rows, grain(p, columns, pairs ? rows : others), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = a + i * columns;
      if (pairs)
        loops<T>().distances(p, columns, row, row + columns, rows - 1 - i, out + first_pair(i, rows));
      else
        loops<T>().distances(p, columns, row, b, others, out + i * others);
    }
  });
}

template <class T>
void distances_backward(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others,
                        const T* g, const T* distances, T* out) {
  std::fill_n(out, rows * columns, T(0));
  parallel_for(rows, grain(p, columns, pairs ? rows : others), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto add = [&](const T* other, int64_t at) {
        loops<T>().add_slope(p, columns, a + i * columns, other, distances[at], g[at], out + i * columns);
      };
      if (!pairs) {
        for (int64_t j = 0; j < others; ++j) add(b + j * columns, i * others + j);
        continue;
      }
      for (int64_t j = 0; j < i; ++j) add(a + j * columns, first_pair(j, rows) + i - j - 1);
      for (int64_t j = i + 1; j < rows; ++j) add(a + j * columns, first_pair(i, rows) + j - i - 1);
    }
  });
}

#define TERRA_DISTANCES(T)                                                                  \
  template void distances(double, bool, int64_t, const T*, int64_t, const T*, int64_t, T*); \
  template void distances_backward(double, bool, int64_t, const T*, int64_t, const T*, int64_t, const T*, const T*, T*);
TERRA_DISTANCES(float)
TERRA_DISTANCES(double)
#undef TERRA_DISTANCES

}  // namespace terra::cpu
