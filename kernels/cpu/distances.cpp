#include "kernels/cpu/distances.h"

#include <algorithm>
#include <type_traits>
#include <vector>

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

/// Orders that need no powers.
bool is_plain(double p) { return p == 0 || p == 1 || p == 2 || p > 1e300; }

/// Rows that are worth a thread, at a quarter nanosecond or, in powers, some nanoseconds for each difference.
int64_t grain(double p, int64_t columns, int64_t others) {
  return std::max<int64_t>(1, grain_for_cost(is_plain(p) ? 1 : 40) / std::max<int64_t>(1, columns * others));
}

/// Rows that are shorter are compared side by side, an element of each at a time.
constexpr int64_t kShortRow = 64;

/// Short rows as columns; nothing of others.
template <class T>
std::vector<T> turned(double p, int64_t columns, const T* b, int64_t rows) {
  std::vector<T> side_by_side;
  if (!is_plain(p) || columns >= kShortRow) return side_by_side;
  side_by_side.resize(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t k = 0; k < columns; ++k) side_by_side[static_cast<size_t>(k * rows + j)] = b[j * columns + k];
  return side_by_side;
}

}  // namespace

template <class T>
void distances(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others, T* out) {
  const std::vector<T> side_by_side = turned(p, columns, b, others);
  parallel_for(rows, grain(p, columns, pairs ? rows : others), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = pairs ? i + 1 : 0, count = others - first;
      T* const to = out + (pairs ? first_pair(i, rows) : i * others);
      if (side_by_side.empty())
        loops<T>().distances(p, columns, a + i * columns, b + first * columns, count, to);
      else
        loops<T>().distances_of_columns(p, columns, a + i * columns, side_by_side.data() + first, others, count, to);
    }
  });
}

template <class T>
void distances_backward(double p, bool pairs, int64_t columns, const T* a, int64_t rows, const T* b, int64_t others,
                        const T* g, const T* distances, T* out) {
  std::fill_n(out, rows * columns, T(0));
  parallel_for(rows, grain(p, columns, pairs ? rows : others), [&](int64_t begin, int64_t end) {
    std::vector<T> before(static_cast<size_t>(pairs ? 2 * rows : 0));  // distances from rows before i, and their g
    for (int64_t i = begin; i < end; ++i) {
      const auto add = [&](const T* some, const T* apart, const T* factors, int64_t count) {
        loops<T>().add_slopes(p, columns, a + i * columns, some, apart, factors, count, out + i * columns);
      };
      if (!pairs) {
        add(b, distances + i * others, g + i * others, others);
        continue;
      }
      T *const apart = before.data(), *const factors = apart + rows;
      for (int64_t j = 0; j < i; ++j) {
        const int64_t pair = first_pair(j, rows) + i - j - 1;
        apart[j] = distances[pair];
        factors[j] = g[pair];
      }
      add(a, apart, factors, i);
      add(a + (i + 1) * columns, distances + first_pair(i, rows), g + first_pair(i, rows), rows - 1 - i);
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
