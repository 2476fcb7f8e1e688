// Distances of rows: kernels/cpu/distances.h.
#include "kernels/cpu/distances.h"

#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

namespace {

inline float power(float x, float p) { return __builtin_powf(x, p); }
inline double power(double x, double p) { return __builtin_pow(x, p); }
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
template <class V>
inline V magnitude(V x) {
  return x < 0 ? -x : x;
}
template <class T>
inline T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

/// What an order does with absolute differences d: how they are put together, and d^(p-1) / distance^(p-1).
template <class T>
struct Count {
  explicit Count(T) {}
  template <class V>
  V add(V sum, V d) const {
    const V one = V{} + 1;
    return sum + (d != d ? d : d != 0 ? one : V{});
  }
  T joined(T a, T b) const { return a + b; }
  T finished(T sum) const { return sum; }
  T slope(T, T) const { return 0; }
};
template <class T>
struct Sum {
  explicit Sum(T) {}
  template <class V>
  V add(V sum, V d) const {
    return sum + d;
  }
  T joined(T a, T b) const { return a + b; }
  T finished(T sum) const { return sum; }
  T slope(T, T) const { return 1; }
};
template <class T>
struct Euclidean {
  explicit Euclidean(T) {}
  template <class V>
  V add(V sum, V d) const {
    return sum + d * d;
  }
  T joined(T a, T b) const { return a + b; }
  T finished(T sum) const { return root(sum); }
  T slope(T d, T distance) const { return d / distance; }
};
template <class T>
struct Largest {
  explicit Largest(T) {}
  template <class V>
  V add(V most, V d) const {
    return (d > most) | (d != d) ? d : most;
  }
  T joined(T a, T b) const { return add(a, b); }
  T finished(T most) const { return most; }
  T slope(T d, T distance) const { return static_cast<T>(d == distance); }
};
template <class T>
struct Power {
  explicit Power(T p) : p(p) {}
  T joined(T a, T b) const { return a + b; }
  T add(T sum, T d) const { return sum + power(d, p); }
  T finished(T sum) const { return power(sum, 1 / p); }
  T slope(T d, T distance) const { return d == 0 ? T(0) : power(d / distance, p - 1); }
  T p;
};

template <class T, class Norm>
T distance(const Norm& norm, int64_t columns, const T* a, const T* b) {
  T total = 0;
  int64_t k = 0;
  if constexpr (!__is_same(Norm, Power<T>)) {
    if (columns >= kLanes<T>) {
      Vec<T> sum{};
      for (; k + kLanes<T> <= columns; k += kLanes<T>) sum = norm.add(sum, magnitude(load(a + k) - load(b + k)));
      for (int64_t lane = 0; lane < kLanes<T>; ++lane) total = norm.joined(total, sum[lane]);
    }
  }
  for (; k < columns; ++k) total = norm.add(total, magnitude(a[k] - b[k]));
  return norm.finished(total);
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
void add_slope(double p, int64_t columns, const T* a, const T* b, T distance, T g, T* out) {
  if (distance == 0) return;
  with_norm<T>(p, [&](auto norm) {
    for (int64_t k = 0; k < columns; ++k) {
      const T difference = a[k] - b[k];
      out[k] += g * sign(difference) * norm.slope(magnitude(difference), distance);
    }
  });
}

}  // namespace

extern const DistanceLoops<float> distance_loops_f32 = {distances<float>, add_slope<float>};
extern const DistanceLoops<double> distance_loops_f64 = {distances<double>, add_slope<double>};

}  // namespace terra::cpu::TERRA_ISA
