// Vectors of the instruction set this file is compiled for (GCC vector extension), and their mathematical functions.
//
// The functions are glibc's libmvec: all of them exist in f32 and f64 at every level, at most 4 units in the last place
// off, usually 1, with exceptional arguments as libm has them. A lane's result depends on that lane only.
#pragma once
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
  Vec<T> v;
  for (int k = 0; k < kLanes<T>; ++k) v[k] = value;
  return v;
}

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
TERRA_VECTOR_FUNCTION(asin)
TERRA_VECTOR_FUNCTION(atan)
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

extern "C" Vec<float> TERRA_MVEC_F(v, exp)(Vec<float>);
extern "C" Vec<double> TERRA_MVEC_D(v, exp)(Vec<double>);

/// exp(x) is 0 below this: half of the smallest number that there is.
template <class T>
constexpr T kExpIsZero = sizeof(T) == 4 ? T(-104) : T(-746);

/// Masked scores (-inf, -1e9) have an exponential of 0. libmvec computes it one lane at a time, which takes fifty times
/// as long: those lanes are computed at 0 and blended out.
inline Vec<float> v_exp(Vec<float> x) {
  const auto vanishes = x < kExpIsZero<float>;
  const Vec<float> e = TERRA_MVEC_F(v, exp)(vanishes ? Vec<float>{} : x);
  return vanishes ? Vec<float>{} : e;
}
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
