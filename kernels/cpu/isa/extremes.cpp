// Where the largest or the smallest elements of short rows are.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// x before best: by size, and a NaN before all numbers.
template <bool kLargest, class V>
auto beats(V x, V best) {
  const auto nearer = kLargest ? x > best : x < best;
  return nearer | ((x != x) & (best == best));
}

template <bool kLargest, class T>
int64_t place_of_first(const T* x, int64_t n) {
  int64_t place = 0;
  for (int64_t i = 1; i < n; ++i)
    if (beats<kLargest>(x[i], x[place])) place = i;
  return place;
}

/// Each lane finds the first of its own; then the best of them, and the first place that has it.
template <bool kLargest, class T>
int64_t place_in_row(const T* x, int64_t n) {
  using Lane = Word<T>;
  if (n < kLanes<T> / 4) return place_of_first<kLargest>(x, n);
  const Vec<Lane> none = broadcast(static_cast<Lane>(n)), numbers = lane_numbers<T>();
  Vec<T> best = read(x, n < kLanes<T> ? n : kLanes<T>, x[0]);
  Vec<Lane> place = numbers;
  int64_t i = kLanes<T>;
  const auto look = [&](Vec<T> here) {
    const auto better = beats<kLargest>(here, best);
    best = better ? here : best;
    place = better ? numbers + static_cast<Lane>(i) : place;
  };
  for (; i + kLanes<T> <= n; i += kLanes<T>) look(load(x + i));
  if (i < n) look(load_some(x + i, n - i, x[0]));
  const auto nan = best != best;
  const T most = fold_lanes<T>(best, [](auto a, auto b) { return (kLargest ? b > a : b < a) ? b : a; });
  const auto lower = [](auto a, auto b) { return b < a ? b : a; };
  const Vec<Lane> nans = nan ? place : none;
  if constexpr (static_cast<T>(0.5) != T(0))
    if (const Lane first = fold_lanes<Lane>(nans, lower); first < n) return first;
  return fold_lanes<Lane>(best == most ? place : none, lower);
}

template <bool kLargest, class T>
void places(const char* x, int64_t stride, int64_t rows, int64_t n, char* to, int64_t to_stride) {
  for (int64_t r = 0; r < rows; ++r)
    *reinterpret_cast<int64_t*>(to + r * to_stride) =
        place_in_row<kLargest>(reinterpret_cast<const T*>(x + r * stride), n);
}

template <class T>
constexpr ExtremeRows<T> kRows = {places<true, T>, places<false, T>};

}  // namespace

ExtremeRows<float> extreme_rows(float) { return kRows<float>; }
ExtremeRows<double> extreme_rows(double) { return kRows<double>; }
ExtremeRows<int32_t> extreme_rows(int32_t) { return kRows<int32_t>; }
ExtremeRows<int64_t> extreme_rows(int64_t) { return kRows<int64_t>; }

}  // namespace terra::cpu::TERRA_ISA
