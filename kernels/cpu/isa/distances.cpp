// Distances of rows: kernels/cpu/distances.h.
#include "kernels/cpu/distances.h"

#include "kernels/cpu/isa/reduce.h"

namespace terra::cpu::TERRA_ISA {

namespace {

inline float power(float x, float p) { return __builtin_powf(x, p); }
inline double power(double x, double p) { return __builtin_pow(x, p); }
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
inline Vec<float> root(Vec<float> x) { return v_sqrt(x); }
inline Vec<double> root(Vec<double> x) { return v_sqrt(x); }
template <class V>
inline V magnitude(V x) {
  return x < 0 ? -x : x;
}
template <class T>
inline T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

/// Of an order whose parts are a sum.
struct Added {
  template <class V>
  V joined(V a, V b) const {
    return a + b;
  }
  template <class V>
  V finished(V sum) const {
    return sum;
  }
};
/// What an order does with absolute differences d: how they are put together, and d^(p-1) / distance^(p-1).
template <class T>
struct Count : Added {
  explicit Count(T) {}
  template <class V>
  V add(V sum, V d) const {
    const V one = V{} + 1;
    return sum + (d != d ? d : d != 0 ? one : V{});
  }
  template <class V>
  V slope(V, V) const {
    return V{};
  }
};
template <class T>
struct Sum : Added {
  explicit Sum(T) {}
  template <class V>
  V add(V sum, V d) const {
    return sum + d;
  }
  template <class V>
  V slope(V, V) const {
    return V{} + 1;
  }
};
template <class T>
struct Euclidean : Added {
  explicit Euclidean(T) {}
  template <class V>
  V add(V sum, V d) const {
    return sum + d * d;
  }
  template <class V>
  V finished(V sum) const {
    return root(sum);
  }
  template <class V>
  V slope(V d, V distance) const {
    return d / distance;
  }
};
template <class T>
struct Largest {
  explicit Largest(T) {}
  template <class V>
  V add(V most, V d) const {
    return (d > most) | (d != d) ? d : most;
  }
  template <class V>
  V joined(V a, V b) const {
    return add(a, b);
  }
  template <class V>
  V finished(V most) const {
    return most;
  }
  template <class V>
  V slope(V d, V distance) const {
    const V one = V{} + 1;
    return d == distance ? one : V{};
  }
};
/// Of numbers only.
template <class T>
struct Power {
  explicit Power(T p) : p(p) {}
  T add(T sum, T d) const { return sum + power(d, p); }
  T finished(T sum) const { return power(sum, 1 / p); }
  T slope(T d, T distance) const { return d == 0 ? T(0) : power(d / distance, p - 1); }
  T p;
};
template <class T, class Norm>
constexpr bool kTakesVectors = !__is_same(Norm, Power<T>);

template <class T, class Norm>
T distance(const Norm& norm, int64_t columns, const T* a, const T* b) {
  if constexpr (kTakesVectors<T, Norm>) {
    Vec<T> sum{};
    for_each_vector<T>(columns, [&](int64_t k, int64_t count) {
      sum = norm.add(sum, magnitude(read(a + k, count) - read(b + k, count)));
    });
    return norm.finished(fold_lanes<T>(sum, [&](auto x, auto y) { return norm.joined(x, y); }));
  } else {
    T total = 0;
    for (int64_t k = 0; k < columns; ++k) total = norm.add(total, magnitude(a[k] - b[k]));
    return norm.finished(total);
  }
}

/// Calls fn with the norm of order p.
template <class T, class F>
inline void with_norm(double p, F fn) {
  if (p == 0) return fn(Count<T>(0));
  if (p == 1) return fn(Sum<T>(1));
  if (p == 2) return fn(Euclidean<T>(2));
  if (p == __builtin_inf()) return fn(Largest<T>(0));
  fn(Power<T>(static_cast<T>(p)));
}

template <class T>
void distances(double p, int64_t columns, const T* a, const T* b, int64_t count, T* out) {
  with_norm<T>(p, [&](auto norm) {
    for (int64_t j = 0; j < count; ++j) out[j] = distance(norm, columns, a, b + j * columns);
  });
}

template <class T>
void distances_of_columns(double p, int64_t columns, const T* a, const T* b, int64_t stride, int64_t count, T* out) {
  with_norm<T>(p, [&](auto norm) {
    if constexpr (kTakesVectors<T, decltype(norm)>) {
      for_each_vector<T>(count, [&](int64_t j, int64_t some) {
        Vec<T> sum{};
        for (int64_t k = 0; k < columns; ++k)
          sum = norm.add(sum, magnitude(broadcast(a[k]) - read(b + k * stride + j, some)));
        write<T>(out + j, norm.finished(sum), some);
      });
    }
  });
}

template <class T>
void add_slopes(double p, int64_t columns, const T* a, const T* b, const T* distances, const T* g, int64_t count,
                T* out) {
  with_norm<T>(p, [&](auto norm) {
    for (int64_t j = 0; j < count; ++j) {
      const T* const other = b + j * columns;
      if (distances[j] == 0) continue;
      if constexpr (kTakesVectors<T, decltype(norm)>) {
        for_each_vector<T>(columns, [&](int64_t k, int64_t some) {
          const Vec<T> difference = read(a + k, some) - read(other + k, some), size = magnitude(difference);
          const Vec<T> slope = g[j] * norm.slope(size, broadcast(distances[j]));
          const Vec<T> sum = read(out + k, some) + (difference < 0 ? -slope : difference > 0 ? slope : Vec<T>{});
          write<T>(out + k, sum, some);
        });
      } else {
        for (int64_t k = 0; k < columns; ++k) {
          const T difference = a[k] - other[k];
          out[k] += g[j] * sign(difference) * norm.slope(magnitude(difference), distances[j]);
        }
      }
    }
  });
}

}  // namespace

extern const DistanceLoops<float> distance_loops_f32 = {distances<float>, distances_of_columns<float>,
                                                        add_slopes<float>};
extern const DistanceLoops<double> distance_loops_f64 = {distances<double>, distances_of_columns<double>,
                                                         add_slopes<double>};

}  // namespace terra::cpu::TERRA_ISA
