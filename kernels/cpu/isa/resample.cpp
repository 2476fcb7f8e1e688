// Sums of weighted rows, and weighted rows added up: lines of resample and of its gradient; and the same of pixels at
// any places.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/isa/grid_taps.h"
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

// ---- pixels at any places --------------------------------------------------------------------------------------
/// The elements at the places in `at`, of which there are as many as lanes.
#if defined(__AVX512F__)
Vec<float> gather(const float* from, const int32_t* at) {
  return (Vec<float>)_mm512_i32gather_ps(_mm512_loadu_si512(at), from, 4);
}
Vec<double> gather(const double* from, const int32_t* at) {
  return (Vec<double>)_mm512_i32gather_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), from, 8);
}
#elif defined(__AVX2__)
Vec<float> gather(const float* from, const int32_t* at) {
  return (Vec<float>)_mm256_i32gather_ps(from, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)), 4);
}
Vec<double> gather(const double* from, const int32_t* at) {
  return (Vec<double>)_mm256_i32gather_pd(from, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), 8);
}
#else
template <class T>
Vec<T> gather(const T* from, const int32_t* at) {
  Vec<T> v;
  for (int k = 0; k < kLanes<T>; ++k) v[k] = from[at[k]];
  return v;
}
#endif

/// Taps of a block of places that are read for all planes together.
constexpr int64_t kTapsTogether = 16, kPlacesTogether = 128;

/// The pixels of some taps; beyond the block's end, the first pixel.
struct BlockIndex {
  int32_t at[kTapsTogether][kPlacesTogether];

  void read(const int64_t* index, int64_t taps, int64_t stride, int64_t count) {
    for (int64_t t = 0; t < taps; ++t) {
      for (int64_t i = 0; i < count; ++i) at[t][i] = static_cast<int32_t>(index[t * stride + i]);
      for (int64_t i = count; i < kPlacesTogether && i < count + 16; ++i) at[t][i] = 0;
    }
  }
};

/// Calls body(first place, number of places, first tap, number of taps) for blocks of them, whose pixels are in
/// `index`.
template <class T, class Body>
void for_blocks(const Taps<T>& taps, int64_t count, BlockIndex& index, const Body& body) {
  for (int64_t p = 0; p < count; p += kPlacesTogether) {
    const int64_t places = count - p < kPlacesTogether ? count - p : kPlacesTogether;
    for (int64_t t = 0; t < taps.taps; t += kTapsTogether) {
      const int64_t some = taps.taps - t < kTapsTogether ? taps.taps - t : kTapsTogether;
      index.read(taps.index + t * taps.size + p, some, taps.size, places);
      body(p, places, t, some);
    }
  }
}

template <class T>
void sample_sums(const Taps<T>& taps, int64_t count, const T* pixels, int64_t size, int64_t planes, T* out) {
  BlockIndex index;
  for_blocks(taps, count, index, [&](int64_t place, int64_t places, int64_t tap, int64_t some) {
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* const from = pixels + plane * size;
      T* const to = out + plane * taps.size + place;
      for_each_vector<T>(places, [&](int64_t i, int64_t n) {
        const T* weight = taps.weight + tap * taps.size + place + i;
        Vec<T> sum = tap == 0 ? Vec<T>{} : read(to + i, n);
        for (int64_t t = 0; t < some; ++t) sum += read(weight + t * taps.size, n) * gather(from, index.at[t] + i);
        write<T>(to + i, sum, n);
      });
    }
  });
}

template <class T>
void sample_weights(const Taps<T>& taps, int64_t count, const T* grad, const T* pixels, int64_t size, int64_t planes,
                    T* out) {
  BlockIndex index;
  for_blocks(taps, count, index, [&](int64_t place, int64_t places, int64_t tap, int64_t some) {
    for (int64_t t = 0; t < some; ++t) {
      T* const to = out + (tap + t) * taps.size + place;
      for_each_vector<T>(places, [&](int64_t i, int64_t n) {
        const T* const from = grad + place + i;
        Vec<T> sum{};
        for (int64_t plane = 0; plane < planes; ++plane)
          sum += read(from + plane * taps.size, n) * gather(pixels + plane * size, index.at[t] + i);
        write<T>(to + i, sum, n);
      });
    }
  });
}

template <class T>
constexpr SampleLoops<T> kSampleLoops = {grid_taps<T>, sample_sums<T>, sample_weights<T>};

}  // namespace

SampleLoops<float> sample_loops(float) { return kSampleLoops<float>; }
SampleLoops<double> sample_loops(double) { return kSampleLoops<double>; }

ResampleLines<float> resample_lines(float) { return {sums<float>, add_to<float>}; }
ResampleLines<double> resample_lines(double) { return {sums<double>, add_to<double>}; }

}  // namespace terra::cpu::TERRA_ISA
