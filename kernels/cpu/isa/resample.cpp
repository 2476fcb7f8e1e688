// Sums of weighted rows, and weighted rows added up: lines of resample and of its gradient.
#include "kernels/cpu/isa/reduce.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// Sums [begin, end) of a line of rows of `inner` elements. kTaps: their number, or 0 where it is taps.taps.
template <int kTaps, class T>
void sum_rows(const Taps<T>& taps, const T* in, int64_t inner, int64_t begin, int64_t end, T* out) {
  const int64_t count = kTaps > 0 ? kTaps : taps.taps;
  if (inner == 1) {
    for (int64_t o = begin; o < end; ++o) {
      T sum = taps.weight[o] * in[taps.index[o]];
      for (int64_t t = 1; t < count; ++t) sum += taps.weight[t * taps.size + o] * in[taps.index[t * taps.size + o]];
      out[o] = sum;
    }
    return;
  }
  for (int64_t o = begin; o < end; ++o) {
    for_each_vector<T>(inner, [&](int64_t i, int64_t some) {
      Vec<T> sum = taps.weight[o] * read(in + taps.index[o] * inner + i, some);
      for (int64_t t = 1; t < count; ++t) {
        const int64_t tap = t * taps.size + o;
        sum += taps.weight[tap] * read(in + taps.index[tap] * inner + i, some);
      }
      write<T>(out + o * inner + i, sum, some);
    });
  }
}

template <class T>
void sums(const Taps<T>& taps, const T* in, int64_t inner, int64_t begin, int64_t end, T* out) {
  switch (taps.taps) {
    case 1: return sum_rows<1>(taps, in, inner, begin, end, out);
    case 2: return sum_rows<2>(taps, in, inner, begin, end, out);
    case 4: return sum_rows<4>(taps, in, inner, begin, end, out);
    default: return sum_rows<0>(taps, in, inner, begin, end, out);
  }
}

template <class T>
void add_to(const Taps<T>& taps, const T* sums, int64_t inner, T* elements) {
  for (int64_t o = 0; o < taps.size; ++o) {
    for (int64_t t = 0; t < taps.taps; ++t) {
      const int64_t tap = t * taps.size + o;
      const T weight = taps.weight[tap];
      T* const to = elements + taps.index[tap] * inner;
      const T* const from = sums + o * inner;
      if (inner == 1) {
        *to += weight * *from;
        continue;
      }
      for_each_vector<T>(inner, [&](int64_t i, int64_t some) {
        write<T>(to + i, read(to + i, some) + weight * read(from + i, some), some);
      });
    }
  }
}

}  // namespace

ResampleLines<float> resample_lines(float) { return {sums<float>, add_to<float>}; }
ResampleLines<double> resample_lines(double) { return {sums<double>, add_to<double>}; }

}  // namespace terra::cpu::TERRA_ISA
