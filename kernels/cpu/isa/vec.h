// Vectors of the instruction set this file is compiled for (GCC vector extension), and their mathematical functions.
//
// The functions are glibc's libmvec, which has all of them in f32 and f64 at every level; exp in f32, of which softmax
// and activations are made, is computed here, in line. They are at most 4 units in the last place off, usually 1, with
// exceptional arguments as libm has them. A lane's result depends on that lane only.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace terra::cpu::TERRA_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#define TERRA_MVEC_F(args, name) _ZGVeN16##args##_##name##f
#define TERRA_MVEC_D(args, name) _ZGVeN8##args##_##name
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#define TERRA_MVEC_F(args, name) _ZGVdN8##args##_##name##f
#define TERRA_MVEC_D(args, name) _ZGVdN4##args##_##name
#else
inline constexpr int kVectorBytes = 16;
#define TERRA_MVEC_F(args, name) _ZGVbN4##args##_##name##f
#define TERRA_MVEC_D(args, name) _ZGVbN2##args##_##name
#endif

template <class T>
struct VecOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vec = typename VecOf<T>::type;

template <class T>
constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));

template <class T>
inline Vec<T> load(const T* from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class T>
inline void store(T* to, Vec<T> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

template <class T>
inline Vec<T> broadcast(T value) {
  return value - Vec<T>{};  // the sign of a zero stays
}

// ---- vectors that are partly filled ----

/// An integer of the size of a lane, which comparisons of lanes yield.
template <class T>
struct WordOf {
  using type = __INT64_TYPE__;
};
template <class T>
requires(sizeof(T) == 4) struct WordOf<T> {
  using type = __INT32_TYPE__;
};
template <class T>
using Word = typename WordOf<T>::type;

/// The number of each lane.
template <class T>
inline Vec<Word<T>> lane_numbers() {
  Vec<Word<T>> numbers;
  for (int k = 0; k < kLanes<T>; ++k) numbers[k] = k;
  return numbers;
}

/// Lanes of words whose memory may be read and written in part, without a call.
template <class T>
constexpr bool kHasMasks = kVectorBytes > 16 && (sizeof(T) == 4 || sizeof(T) == 8);

#if defined(__AVX512F__)
template <class T>
inline Vec<T> masked_load(const T* from, int64_t count, Vec<T> rest) {
  const auto bits = static_cast<__mmask16>((1u << count) - 1);
  if constexpr (sizeof(T) == 4)
    return __builtin_bit_cast(Vec<T>, _mm512_mask_loadu_epi32(__builtin_bit_cast(__m512i, rest), bits, from));
  else
    return __builtin_bit_cast(
        Vec<T>, _mm512_mask_loadu_epi64(__builtin_bit_cast(__m512i, rest), static_cast<__mmask8>(bits), from));
}
template <class T>
inline void masked_store(T* to, Vec<T> v, int64_t count) {
  const auto bits = static_cast<__mmask16>((1u << count) - 1);
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(to, bits, __builtin_bit_cast(__m512i, v));
  else
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(bits), __builtin_bit_cast(__m512i, v));
}
#elif defined(__AVX2__)
template <class T>
inline __m256i first_lanes(int64_t count) {
  return __builtin_bit_cast(__m256i, lane_numbers<T>() < static_cast<Word<T>>(count));
}
template <class T>
inline Vec<T> masked_load(const T* from, int64_t count, Vec<T> rest) {
  const __m256i wanted = first_lanes<T>(count);
  __m256i v;
  if constexpr (sizeof(T) == 4)
    v = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), wanted);
  else
    v = _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), wanted);
  return __builtin_bit_cast(Vec<T>, _mm256_blendv_epi8(__builtin_bit_cast(__m256i, rest), v, wanted));
}
template <class T>
inline void masked_store(T* to, Vec<T> v, int64_t count) {
  const __m256i wanted = first_lanes<T>(count), bits = __builtin_bit_cast(__m256i, v);
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), wanted, bits);
  else
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), wanted, bits);
}
#endif

/// The first `count` lanes from memory, the others `rest`.
template <class T>
inline Vec<T> load_some(const T* from, int64_t count, T rest) {
  Vec<T> v = broadcast(rest);
  if constexpr (kHasMasks<T>)
    v = masked_load<T>(from, count, v);
  else
    __builtin_memcpy(&v, from, static_cast<unsigned long>(count) * sizeof(T));
  return v;
}

template <class T>
inline void store_some(T* to, Vec<T> v, int64_t count) {
  if constexpr (kHasMasks<T>)
    masked_store<T>(to, v, count);
  else
    __builtin_memcpy(to, &v, static_cast<unsigned long>(count) * sizeof(T));
}

/// `rest` in the lanes from `count` on.
template <class T>
inline Vec<T> only(Vec<T> v, int64_t count, T rest = T(0)) {
  return lane_numbers<T>() < static_cast<Word<T>>(count) ? v : broadcast(rest);
}

// ---- functions ----

#define TERRA_VECTOR_FUNCTION(name)                                             \
  extern "C" Vec<float> TERRA_MVEC_F(v, name)(Vec<float>);                      \
  extern "C" Vec<double> TERRA_MVEC_D(v, name)(Vec<double>);                    \
  inline Vec<float> v_##name(Vec<float> x) { return TERRA_MVEC_F(v, name)(x); } \
  inline Vec<double> v_##name(Vec<double> x) { return TERRA_MVEC_D(v, name)(x); }

#define TERRA_VECTOR_FUNCTION_2(name)                                                             \
  extern "C" Vec<float> TERRA_MVEC_F(vv, name)(Vec<float>, Vec<float>);                           \
  extern "C" Vec<double> TERRA_MVEC_D(vv, name)(Vec<double>, Vec<double>);                        \
  inline Vec<float> v_##name(Vec<float> x, Vec<float> y) { return TERRA_MVEC_F(vv, name)(x, y); } \
  inline Vec<double> v_##name(Vec<double> x, Vec<double> y) { return TERRA_MVEC_D(vv, name)(x, y); }

TERRA_VECTOR_FUNCTION(acos)
TERRA_VECTOR_FUNCTION(acosh)
TERRA_VECTOR_FUNCTION(asin)
TERRA_VECTOR_FUNCTION(asinh)
TERRA_VECTOR_FUNCTION(atan)
TERRA_VECTOR_FUNCTION(atanh)
TERRA_VECTOR_FUNCTION(cos)
TERRA_VECTOR_FUNCTION(cosh)
TERRA_VECTOR_FUNCTION(erf)
TERRA_VECTOR_FUNCTION(erfc)
TERRA_VECTOR_FUNCTION(exp2)
TERRA_VECTOR_FUNCTION(expm1)
TERRA_VECTOR_FUNCTION(sin)
TERRA_VECTOR_FUNCTION(sinh)
TERRA_VECTOR_FUNCTION(tan)
TERRA_VECTOR_FUNCTION(tanh)
TERRA_VECTOR_FUNCTION_2(atan2)
TERRA_VECTOR_FUNCTION_2(hypot)
TERRA_VECTOR_FUNCTION_2(pow)

/// a b + c, rounded once where the processor can.
inline Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

/// x 2^n of whole n between -200 and 200: a number that is too large or too small for its type where it has to be.
inline Vec<float> scaled(Vec<float> x, Vec<float> n) {
#if defined(__AVX512F__)
  return _mm512_maskz_scalef_ps(__mmask16(-1), x, n);
#else
  const auto power = [](Vec<int32_t> k) { return __builtin_bit_cast(Vec<float>, (k + 127) << 23); };
  const Vec<int32_t> k = __builtin_convertvector(n, Vec<int32_t>), half = k >> 1;
  return x * power(half) * power(k - half);
#endif
}

/// exp(x) is 0 below this: half of the smallest number that there is.
template <class T>
constexpr T kExpIsZero = sizeof(T) == 4 ? T(-104) : T(-746);

/// Of x = n log(2) + r with |r| <= log(2) / 2, where exp(r) = 1 + r + r^2 q(r): q is fitted by least squares with
/// weights that level the relative error, at 3.1e-9. log(2) is subtracted in two parts, of which n times the first is
/// exact.
inline Vec<float> v_exp(Vec<float> x) {
  constexpr float kMost = 89, kRounds = 0x1.8p23f;
  constexpr float kPolynomial[] = {0.00836871929f, 0.0416683883f, 0.166665206f, 0.499999934f};
  x = x < kExpIsZero<float> ? broadcast(kExpIsZero<float>) : x;
  x = x > kMost ? broadcast(kMost) : x;
  const Vec<float> n = multiply_add(x, broadcast(1.44269504f), broadcast(kRounds)) - kRounds;
  Vec<float> r = multiply_add(n, broadcast(-0.693145752f), x);
  r = multiply_add(n, broadcast(-1.42860677e-6f), r);
  Vec<float> q = broadcast(0.00138145934f);
  for (const float c : kPolynomial) q = multiply_add(q, r, broadcast(c));
  return scaled(multiply_add(r * r, q, r) + 1, n);
}

extern "C" Vec<double> TERRA_MVEC_D(v, exp)(Vec<double>);

/// Masked scores (-inf, -1e9) have an exponential of 0. libmvec computes it one lane at a time, which takes fifty times
/// as long: those lanes are computed at 0 and blended out.
inline Vec<double> v_exp(Vec<double> x) {
  const auto vanishes = x < kExpIsZero<double>;
  const Vec<double> e = TERRA_MVEC_D(v, exp)(vanishes ? Vec<double>{} : x);
  return vanishes ? Vec<double>{} : e;
}

/// Logarithms of 0, of negative numbers and of what is no number: libmvec takes lanes one at a time for them as well.
template <class T, class Log>
inline Vec<T> log_where_positive(Vec<T> x, const Log& log) {
  const auto ordinary = (x > 0) & (x < T(__builtin_inf()));
  const Vec<T> exceptional = x == 0 ? broadcast(-T(__builtin_inf())) : x < 0 ? broadcast(T(__builtin_nan(""))) : x;
  const Vec<T> y = log(ordinary ? x : broadcast(T(1)));
  return ordinary ? y : exceptional;
}
#define TERRA_VECTOR_LOGARITHM(name)                                                              \
  extern "C" Vec<float> TERRA_MVEC_F(v, name)(Vec<float>);                                        \
  extern "C" Vec<double> TERRA_MVEC_D(v, name)(Vec<double>);                                      \
  inline Vec<float> v_##name(Vec<float> x) {                                                      \
    return log_where_positive<float>(x, [](Vec<float> y) { return TERRA_MVEC_F(v, name)(y); });   \
  }                                                                                               \
  inline Vec<double> v_##name(Vec<double> x) {                                                    \
    return log_where_positive<double>(x, [](Vec<double> y) { return TERRA_MVEC_D(v, name)(y); }); \
  }
TERRA_VECTOR_LOGARITHM(log)
TERRA_VECTOR_LOGARITHM(log10)
TERRA_VECTOR_LOGARITHM(log2)

inline Vec<float> v_sqrt(Vec<float> x) {
  for (int k = 0; k < kLanes<float>; ++k) x[k] = __builtin_sqrtf(x[k]);
  return x;
}
inline Vec<double> v_sqrt(Vec<double> x) {
  for (int k = 0; k < kLanes<double>; ++k) x[k] = __builtin_sqrt(x[k]);
  return x;
}

}  // namespace terra::cpu::TERRA_ISA
