// Fourier transforms of several lines at once: kernels/cpu/fourier_lanes.h. Numbers of each lane are computed as those
// of any other, whatever the width of a vector.
#include "kernels/cpu/fourier_lanes.h"

#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// A complex number in each lane.
template <class R>
struct Z {
  Vec<R> re, im;
};
template <class R>
inline Z<R> operator+(Z<R> a, Z<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
inline Z<R> operator-(Z<R> a, Z<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
inline Z<R> operator*(R factor, Z<R> a) {
  return {factor * a.re, factor * a.im};
}
template <class R>
inline Z<R> times(Z<R> a, R re, R im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
/// -i a.
template <class R>
inline Z<R> turned(Z<R> a) {
  return {a.im, -a.re};
}

template <class R>
inline Z<R> point(LanePlanes<R> planes, int64_t j) {
  return {load(planes.re + j * kLanes<R>), load(planes.im + j * kLanes<R>)};
}
template <class R>
inline void put(LanePlanes<R> planes, int64_t j, Z<R> z) {
  store(planes.re + j * kLanes<R>, z.re);
  store(planes.im + j * kLanes<R>, z.im);
}

// ---- transforms of a few points -------------------------------------------------------------------------------------
template <int kRadix>
struct Butterfly;
template <>
struct Butterfly<2> {
  template <class R>
  static inline void run(Z<R>* a) {
    const Z<R> sum = a[0] + a[1];
    a[1] = a[0] - a[1];
    a[0] = sum;
  }
};
template <>
struct Butterfly<3> {
  template <class R>
  static inline void run(Z<R>* a) {
    const R half = R(0.5), sine = R(0.86602540378443864676);
    const Z<R> sum = a[1] + a[2], across = sine * turned(a[1] - a[2]), rest = a[0] - half * sum;
    a[0] = a[0] + sum;
    a[1] = rest + across;
    a[2] = rest - across;
  }
};
template <>
struct Butterfly<4> {
  template <class R>
  static inline void run(Z<R>* a) {
    const Z<R> even = a[0] + a[2], odd = a[1] + a[3], other = a[0] - a[2], across = turned(a[1] - a[3]);
    a[0] = even + odd;
    a[1] = other + across;
    a[2] = even - odd;
    a[3] = other - across;
  }
};
template <>
struct Butterfly<5> {
  template <class R>
  static inline void run(Z<R>* a) {
    const R c1 = R(0.30901699437494742410), c2 = R(-0.80901699437494742410);
    const R s1 = R(0.95105651629515357212), s2 = R(0.58778525229247312917);
    const Z<R> outer = a[1] + a[4], inner = a[2] + a[3], first = turned(a[1] - a[4]), second = turned(a[2] - a[3]);
    const Z<R> near = a[0] + c1 * outer + c2 * inner, far = a[0] + c2 * outer + c1 * inner;
    const Z<R> over = s1 * first + s2 * second, beyond = s2 * first - s1 * second;
    a[0] = a[0] + outer + inner;
    a[1] = near + over;
    a[2] = far + beyond;
    a[3] = far - beyond;
    a[4] = near - over;
  }
};

// ---- passes ---------------------------------------------------------------------------------------------------------
template <int kRadix, class R>
void pass(const FourierPass& p, const R* factors, LanePlanes<R> to, LanePlanes<R> from) {
  for (int64_t i = 0; i < p.count; ++i) {
    const R* w = factors + p.first + i * (kRadix - 1) * 2;
    for (int64_t q = 0; q < p.stride; ++q) {
      Z<R> a[kRadix];
      for (int k = 0; k < kRadix; ++k) a[k] = point(from, q + p.stride * (i + p.count * k));
      Butterfly<kRadix>::run(a);
      const int64_t at = q + p.stride * kRadix * i;
      put(to, at, a[0]);
      if (i == 0) {
        for (int k = 1; k < kRadix; ++k) put(to, at + p.stride * k, a[k]);
      } else {
        for (int k = 1; k < kRadix; ++k) put(to, at + p.stride * k, times(a[k], w[2 * k - 2], w[2 * k - 1]));
      }
    }
  }
}

/// Of any radix: by the sums that define it.
template <class R>
void long_pass(const FourierPass& p, const R* factors, LanePlanes<R> to, LanePlanes<R> from) {
  const R* roots = factors + p.roots;
  for (int64_t i = 0; i < p.count; ++i) {
    const R* w = factors + p.first + i * (p.radix - 1) * 2;
    for (int64_t q = 0; q < p.stride; ++q) {
      Z<R> a[kLargestRadix];
      for (int64_t k = 0; k < p.radix; ++k) a[k] = point(from, q + p.stride * (i + p.count * k));
      for (int64_t k = 0; k < p.radix; ++k) {
        Z<R> sum = a[0];
        for (int64_t j = 1, turn = 0; j < p.radix; ++j) {
          turn = turn + k < p.radix ? turn + k : turn + k - p.radix;
          sum = sum + times(a[j], roots[2 * turn], roots[2 * turn + 1]);
        }
        put(to, q + p.stride * (p.radix * i + k), k == 0 ? sum : times(sum, w[2 * k - 2], w[2 * k - 1]));
      }
    }
  }
}

template <class R>
LanePlanes<R> transform(const FourierPasses<R>& all, LanePlanes<R> from, LanePlanes<R> to) {
  for (int64_t i = 0; i < all.count; ++i) {
    const FourierPass& p = all.passes[i];
    switch (p.radix) {
      case 2: pass<2>(p, all.factors, to, from); break;
      case 3: pass<3>(p, all.factors, to, from); break;
      case 4: pass<4>(p, all.factors, to, from); break;
      case 5: pass<5>(p, all.factors, to, from); break;
      default: long_pass(p, all.factors, to, from);
    }
    const LanePlanes<R> done = to;
    to = from;
    from = done;
  }
  return from;
}

// ---- real numbers in pairs ------------------------------------------------------------------------------------------
/// With even numbers E and odd ones O as z = e + i o: E_k = (Z_k + Z*_{m-k}) / 2, i O_k = (Z_k - Z*_{m-k}) / 2 and
/// X_k = E_k + exp(-pi i k / m) O_k.
template <class R>
void to_real_spectrum(int64_t m, const R* turns, LanePlanes<R> to, LanePlanes<R> from) {
  const R half = R(0.5);
  for (int64_t k = 0; k <= m; ++k) {
    const Z<R> a = point(from, k == m ? 0 : k), b = point(from, k == 0 ? 0 : m - k);
    const Z<R> even = {half * (a.re + b.re), half * (a.im - b.im)};
    const Z<R> odd = turned(Z<R>{half * (a.re - b.re), half * (a.im + b.im)});
    put(to, k, even + times(odd, turns[2 * k], turns[2 * k + 1]));
  }
}

template <class R>
void from_real_spectrum(int64_t m, const R* turns, LanePlanes<R> to, LanePlanes<R> from) {
  for (int64_t k = 0; k < m; ++k) {
    const Z<R> x = point(from, k), y = point(from, m - k);
    const Z<R> even = {x.re + y.re, x.im - y.im};
    const Z<R> odd = times(Z<R>{x.re - y.re, x.im + y.im}, turns[2 * k], -turns[2 * k + 1]);
    put(to, k, even - turned(odd));
  }
}

}  // namespace

extern const FourierLanes<float> fourier_lanes_f32 = {kLanes<float>, transform<float>, to_real_spectrum<float>,
                                                      from_real_spectrum<float>};
extern const FourierLanes<double> fourier_lanes_f64 = {kLanes<double>, transform<double>, to_real_spectrum<double>,
                                                       from_real_spectrum<double>};

}  // namespace terra::cpu::TERRA_ISA
