// Sums and maxima over contiguous runs.
#pragma once
#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

/// fold(a, b) of the halves of a vector, of their halves and so on.
template <class T, int kBytes = kVectorBytes, class V, class Fold>
inline T fold_lanes(V v, const Fold& fold) {
  if constexpr (kBytes == 2 * sizeof(T)) {
    return fold(T(v[0]), T(v[1]));
  } else {
    typedef T Half __attribute__((vector_size(kBytes / 2)));
    Half halves[2];
    __builtin_memcpy(halves, &v, sizeof v);
    return fold_lanes<T, kBytes / 2>(fold(halves[0], halves[1]), fold);
  }
}

template <class T>
inline T sum_lanes(Vec<T> v) {
  return fold_lanes<T>(v, [](auto a, auto b) { return a + b; });
}

/// Of lanes that are numbers.
template <class T>
inline T max_lanes(Vec<T> v) {
  return fold_lanes<T>(v, [](auto a, auto b) { return b > a ? b : a; });
}

/// Sums value(i, count) over the vectors of a run of n, where value returns a vector of `count` wanted lanes starting
/// at element i and zeros elsewhere. Four chains, and every 4096 elements into f64.
template <class T, class Value>
inline double sum_run(int64_t n, const Value& value) {
  constexpr int64_t kLane = kLanes<T>;
  constexpr int64_t kRun = 4096;
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kRun) {
    const int64_t end = begin + kRun < n ? begin + kRun : n;
    Vec<T> chain[4] = {};
    int64_t i = begin;
    for (; i + 4 * kLane <= end; i += 4 * kLane) {
      for (int c = 0; c < 4; ++c) chain[c] += value(i + c * kLane, kLane);
    }
    const int64_t whole = (end - i) / kLane;
    if (whole > 0) chain[0] += value(i, kLane);
    if (whole > 1) chain[1] += value(i + kLane, kLane);
    if (whole > 2) chain[2] += value(i + 2 * kLane, kLane);
    i += whole * kLane;
    if (i < end) chain[3] += value(i, end - i);
    total += static_cast<double>(sum_lanes<T>((chain[0] + chain[1]) + (chain[2] + chain[3])));
  }
  return total;
}

/// Calls body(i, count) for the vectors of a run of n; count < lanes only for the last.
template <class T, class Body>
inline void for_each_vector(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) body(i, kLanes<T>);
  if (i < n) body(i, n - i);
}

template <class T>
inline Vec<T> read(const T* from, int64_t count, T rest = T(0)) {
  return count == kLanes<T> ? load(from) : load_some(from, count, rest);
}

template <class T>
inline void write(T* to, Vec<T> v, int64_t count) {
  if (count == kLanes<T>) {
    store<T>(to, v);
  } else {
    store_some<T>(to, v, count);
  }
}

}  // namespace terra::cpu::TERRA_ISA
