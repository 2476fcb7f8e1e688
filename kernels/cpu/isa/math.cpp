// Transcendental functions of floats, whole vectors at a time.
#include "kernels/cpu/inverse_erf.h"
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// log(1 + x), right for small x: what rounding 1 + x to u has lost is made good by x / (u - 1) (W. Kahan). A fraction
/// of the time of libmvec's log1p.
template <class V>
V log_of_one_plus(V x) {
  const V u = 1 + x;
  const V corrected = v_log(u) * (x / (u - 1));
  return u == 1 ? x : u == V{} + __builtin_inff() ? u : corrected;
}

/// Even and odd powers apart, which don't wait for each other.
template <int n>
Vec<double> polynomial(const double (&coefficients)[n], Vec<double> x) {
  const Vec<double> square = x * x;
  Vec<double> sums[2] = {};
#pragma GCC unroll 32
  for (int i = 0; i < n; ++i) {
    Vec<double>& sum = sums[(n - 1 - i) % 2];
    sum = sum * square + coefficients[i];
  }
  return sums[0] + sums[1] * x;
}

template <class T>
bool any_lane(T lanes) {
  bool any = false;
  for (int k = 0; k < kLanes<double>; ++k) any |= lanes[k] != 0;
  return any;
}

/// A function of doubles, of both halves of a vector of floats.
template <class F>
Vec<float> by_halves(Vec<float> x, const F& f) {
  typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
  Half halves[2];
  __builtin_memcpy(halves, &x, sizeof x);
  for (Half& half : halves) half = __builtin_convertvector(f(__builtin_convertvector(half, Vec<double>)), Half);
  __builtin_memcpy(&x, halves, sizeof x);
  return x;
}

/// y with erf(y) = x, by the polynomials in w of inverse_erf.h.
template <class T>
struct Erfinv;

/// In double: w is less than 16, and hardly ever above 6.25.
template <>
struct Erfinv<float> : PlainVector<float> {
  using PlainVector<float>::PlainVector;

  Vec<float> operator()(Vec<float> single) const {
    return by_halves(single, [](Vec<double> x) {
      const Vec<double> w = -v_log(1 - x * x);
      Vec<double> y = polynomial(kInverseErfNearShort, w - 3.125);
      if (const auto far = w >= 6.25; any_lane(far)) y = far ? polynomial(kInverseErfFar, v_sqrt(w) - 3.25) : y;
      return x * (w < 16 ? y : w);  // beyond the ends w is NaN, at them infinite
    });
  }
};

/// The estimate is brought to the last digit by a step of Halley's, with the smaller one of erf and erfc.
template <>
struct Erfinv<double> : PlainVector<double> {
  using PlainVector<double>::PlainVector;

  Vec<double> operator()(Vec<double> x) const {
    const Vec<double> size = x < 0 ? -x : x, tail = 1 - size, w = -v_log(tail * (2 - tail));
    Vec<double> y = polynomial(kInverseErfNear, w - 3.125);
    if (const auto far = w >= 6.25; any_lane(far)) {
      const Vec<double> root = v_sqrt(w);
      const Vec<double> beyond =
          w < 16 ? polynomial(kInverseErfFar, root - 3.25) : polynomial(kInverseErfFarthest, root - 5);
      y = far ? beyond : y;
    }
    y *= size;
    Vec<double> error = v_erf(y) - size;
    if (const auto small = tail < 0.5; any_lane(small)) error = small ? tail - v_erfc(y) : error;
    const Vec<double> u = error / (1.1283791670955125739 * v_exp(-y * y));
    y -= u / (1 + u * y);
    y = size < 1 ? y : w;  // beyond the ends w is NaN, at them infinite
    return x == 0 ? x : x < 0 ? -y : y;
  }
};

/// log |gamma(x)|. In f32 it is Stirling's series in double, of x + 8 where x is small; below 1/2 by reflection.
template <class T>
struct Lgamma;

template <>
struct Lgamma<float> : PlainVector<float> {
  using PlainVector<float>::PlainVector;

  Vec<float> operator()(Vec<float> single) const {
    return by_halves(single, [](Vec<double> x) {
      constexpr double kPi = 3.14159265358979323846, kRounds = 0x1.8p52, kHalfLogOfTwoPi = 0.91893853320467274178;
      const auto reflected = x < 0.5;
      Vec<double> y = reflected ? 1 - x : x, factor = broadcast(1.0);  // gamma(y + 8) = factor gamma(y)
      if (const auto small = y < 8; any_lane(small)) {
        Vec<double> product = y;
        for (int k = 1; k < 8; ++k) product *= y + k;
        factor = small ? product : factor;
        y = small ? y + 8 : y;
      }
      if (any_lane(reflected)) {  // gamma(x) gamma(1 - x) = pi / sin(pi x)
        const Vec<double> from_whole = x - ((x + kRounds) - kRounds);
        const Vec<double> sine =
            v_sin(kPi * ((from_whole < 0 ? -from_whole : from_whole) + 0.0));  // no zero is negative
        factor = reflected ? kPi * factor / (x > -0x1p51 ? sine : Vec<double>{}) : factor;
      }
      const Vec<double> inverse = 1 / y, square = inverse * inverse;
      Vec<double> series = broadcast(-691.0 / 360360);
      for (const double c : {1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12}) series = series * square + c;
      series *= inverse;
      const Vec<double> stirling = (y - 0.5) * v_log(y) - y + kHalfLogOfTwoPi + series, log_factor = v_log(factor);
      const Vec<double> infinity = broadcast(__builtin_inf());
      const Vec<double> result = reflected ? log_factor - stirling : stirling - log_factor;
      const Vec<double> finite = (x == 1) | (x == 2) ? Vec<double>{} : result;
      return (x == infinity) | (x == -infinity) ? infinity : finite;
    });
  }
};

template <>
struct Lgamma<double> : Plain<double> {
  using Plain<double>::Plain;
  double operator()(double x) const {
    int sign = 0;
    return __builtin_lgamma_r(x, &sign);
  }
};

#define TERRA_VECTOR_UNARY(Name, expression)                 \
  template <class T>                                         \
  struct Name : PlainVector<T> {                             \
    using PlainVector<T>::PlainVector;                       \
    Vec<T> operator()(Vec<T> x) const { return expression; } \
  };

TERRA_VECTOR_UNARY(Exp, v_exp(x))
TERRA_VECTOR_UNARY(Expm1, v_expm1(x))
TERRA_VECTOR_UNARY(Log, v_log(x))
TERRA_VECTOR_UNARY(Log2, v_log2(x))
TERRA_VECTOR_UNARY(Log10, v_log10(x))
TERRA_VECTOR_UNARY(Log1p, log_of_one_plus(x))
TERRA_VECTOR_UNARY(Sin, v_sin(x))
TERRA_VECTOR_UNARY(Cos, v_cos(x))
TERRA_VECTOR_UNARY(Tan, v_tan(x))
TERRA_VECTOR_UNARY(Asin, v_asin(x))
TERRA_VECTOR_UNARY(Acos, v_acos(x))
TERRA_VECTOR_UNARY(Atan, v_atan(x))
TERRA_VECTOR_UNARY(Sinh, v_sinh(x))
TERRA_VECTOR_UNARY(Cosh, v_cosh(x))
TERRA_VECTOR_UNARY(Tanh, v_tanh(x))
TERRA_VECTOR_UNARY(Asinh, v_asinh(x))
TERRA_VECTOR_UNARY(Acosh, v_acosh(x))
TERRA_VECTOR_UNARY(Atanh, v_atanh(x))
TERRA_VECTOR_UNARY(Erf, v_erf(x))
TERRA_VECTOR_UNARY(Erfc, v_erfc(x))
TERRA_VECTOR_UNARY(Sigmoid, T(1) / (T(1) + v_exp(-x)))

template <class T>
struct Atan2 : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> y, Vec<T> x) const { return v_atan2(y, x); }
};

/// log(exp(x) + exp(y)); of equal infinities that infinity.
template <class T>
struct Logaddexp : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> x, Vec<T> y) const {
    const auto first = x >= y;
    const Vec<T> large = first ? x : y, small = first ? y : x;
    const Vec<T> sum = large + log_of_one_plus(v_exp(small - large));
    return x == y ? (x - x == 0 ? sum : x) : sum;
  }
};

template <class T>
struct Hypot : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> x, Vec<T> y) const { return v_hypot(x, y); }
};

template <class T>
struct Exp2 : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> x) const { return v_exp2(x); }
};

/// Base 2 and the common exponents are computed the cheap way, wherever the numbers come from, so that an element's
/// value is a function of the two alone.
template <class T>
struct Pow : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> x, Vec<T> y) const {
    Vec<T> result = v_pow(x, y);
    const auto twos = x == T(2);
    bool any = false;
    for (int lane = 0; lane < kLanes<T>; ++lane) any |= twos[lane] != 0;
    if (any) result = twos ? v_exp2(y) : result;
    result = y == T(2) ? x * x : result;
    result = y == T(3) ? x * x * x : result;
    result = y == T(0.5) ? v_sqrt(x) : result;
    result = y == T(-2) ? T(1) / (x * x) : result;
    return y == T(-1) ? T(1) / x : result;
  }
};
template <class T>
struct Square : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x) const { return x * x; }
};
template <class T>
struct Cube : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x) const { return x * x * x; }
};
template <class T>
struct SquareRoot : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> x) const { return v_sqrt(x); }
};
template <class T>
struct Inverse : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x) const { return T(1) / x; }
};

template <class T>
struct InverseSquare : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x) const { return T(1) / (x * x); }
};

template <class T>
void pow_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  if (strides[1] == 0 && strides[2] != 0 && *reinterpret_cast<const T*>(data[1]) == T(2)) {
    char* const exponents[] = {data[0], data[2]};
    const int64_t steps[] = {strides[0], strides[2]};
    return unary_loop<Exp2<T>>(exponents, steps, n, params);
  }
  if (strides[2] == 0) {
    const T exponent = *reinterpret_cast<const T*>(data[2]);
    if (exponent == T(2)) return unary_loop<Square<T>>(data, strides, n, params);
    if (exponent == T(3)) return unary_loop<Cube<T>>(data, strides, n, params);
    if (exponent == T(0.5)) return unary_loop<SquareRoot<T>>(data, strides, n, params);
    if (exponent == T(-1)) return unary_loop<Inverse<T>>(data, strides, n, params);
    if (exponent == T(-2)) return unary_loop<InverseSquare<T>>(data, strides, n, params);
  }
  binary_loop<Pow<T>>(data, strides, n, params);
}

consteval Kernel pow_kernel() {
  Kernel kernel{.op = "pow", .cost = 10};
  kernel.loops[static_cast<int>(DType::F32)] = pow_loop<float>;
  kernel.loops[static_cast<int>(DType::F64)] = pow_loop<double>;
  return kernel;
}

/// exp(-x^2 / 2): sqrt(2 pi) times the density of the standard normal distribution.
template <class T>
Vec<T> bell(Vec<T> x) {
  return v_exp(T(-0.5) * x * x);
}

/// Phi(x), the distribution function: bell(x) m(|x|) for negative x, where m falls slowly from 1/2, and 1 less it for
/// others. In f32, m is a polynomial of t = 1 / (1 + 0.35 |x|), fitted by least squares with weights that level its
/// relative error at 3.2e-8; the sum is taken by pairs, then pairs of pairs, which depend on less than Horner's.
inline Vec<float> normal_below(Vec<float> x, Vec<float> bell_of_x) {
  const Vec<float> t = 1 / multiply_add(x < 0 ? -x : x, broadcast(0.35f), broadcast(1.0f)), t2 = t * t, t4 = t2 * t2;
  const auto pair = [&](float c0, float c1) { return multiply_add(t, broadcast(c1), broadcast(c0)); };
  const Vec<float> low = multiply_add(pair(0.11982128f, 0.105552534f), t2, pair(0.139621307f, 0.139863516f));
  const Vec<float> high = multiply_add(pair(-0.255839111f, 0.144030973f), t2, pair(-0.0232124328f, 0.159319815f));
  const Vec<float> m = multiply_add(multiply_add(t4, broadcast(-0.0291578969f), high), t4, low) * t;
  const Vec<float> tail = bell_of_x * m;
  return x > 0 ? 1 - tail : tail;
}
inline Vec<float> normal_below(Vec<float> x) { return normal_below(x, bell<float>(x)); }
inline Vec<double> normal_below(Vec<double> x) { return 0.5 * v_erfc(x * -0.70710678118654752440); }
inline Vec<double> normal_below(Vec<double> x, Vec<double>) { return normal_below(x); }

/// x Phi(x), or with approximate='tanh' x (1 + tanh(u)) / 2 = x / (1 + exp(-2u)): forms that keep their digits for
/// large negative x.
template <class T>
struct Gelu {
  using In = T;
  using Out = T;
  using Vector = Vec<T>;
  explicit Gelu(const KernelArg* params) : approximate(params[1].count > 0 && params[1].chars[0] == 't') {}
  Vec<T> operator()(Vec<T> x) const {
    if (approximate) {
      const Vec<T> u = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
      return x / (T(1) + v_exp(T(-2) * u));
    }
    return x * normal_below(x);
  }
  bool approximate;
};

/// x s(x), s the logistic function.
template <class T>
struct Swish : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> x) const { return x / (T(1) + v_exp(-x)); }
};
/// Its gradient, by the slope s(x) (1 + x (1 - s(x))).
template <class T>
struct SwishBackward : PlainVector<T> {
  using PlainVector<T>::PlainVector;
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    const Vec<T> s = T(1) / (T(1) + v_exp(-x));
    return grad * (s * (T(1) + x * (T(1) - s)));
  }
};

/// The gradient of Gelu at x: Phi(x) + x phi(x), or the slope of x s(2u), s the logistic function.
template <class T>
struct GeluBackward {
  using In = T;
  using Out = T;
  using Vector = Vec<T>;
  explicit GeluBackward(const KernelArg* params) : approximate(params[2].count > 0 && params[2].chars[0] == 't') {}
  Vec<T> operator()(Vec<T> grad, Vec<T> x) const {
    if (approximate) {
      const T scale = T(1.5957691216057307118), cubic = T(0.044715);
      const Vec<T> s = T(1) / (T(1) + v_exp(-scale * (x + cubic * x * x * x)));
      return grad * (s + x * s * (T(1) - s) * (scale * (T(1) + T(3) * cubic * x * x)));
    }
    const Vec<T> b = bell<T>(x);
    return grad * (normal_below(x, b) + x * (T(0.39894228040143267794) * b));
  }
  bool approximate;
};

/// log(1 + exp(beta x)) / beta, linear where beta x exceeds the threshold.
template <class T>
struct Softplus {
  using In = T;
  using Out = T;
  using Vector = Vec<T>;
  explicit Softplus(const KernelArg* params) : beta(attribute<T>(params, 1)), threshold(attribute<T>(params, 2)) {}
  Vec<T> operator()(Vec<T> x) const {
    const Vec<T> scaled = x * beta;
    return scaled > threshold ? x : log_of_one_plus(v_exp(scaled)) / beta;
  }
  T beta, threshold;
};

/// log(1 / (1 + exp(-x))) = min(x, 0) - log(1 + exp(-|x|)).
TERRA_VECTOR_UNARY(Logsigmoid, (x < 0 ? x : Vec<T>{}) - log_of_one_plus(v_exp(x < 0 ? x : -x)))

template <class T>
struct Elu {
  using In = T;
  using Out = T;
  using Vector = Vec<T>;
  explicit Elu(const KernelArg* params) : alpha(attribute<T>(params, 1)) {}
  Vec<T> operator()(Vec<T> x) const { return x > T(0) ? x : alpha * v_expm1(x); }
  T alpha;
};

constexpr Kernel kTable[] = {
    unary<Exp, float, double>("exp", 2),
    unary<Expm1, float, double>("expm1", 4),
    unary<Log, float, double>("log", 2),
    unary<Log2, float, double>("log2", 3),
    unary<Log10, float, double>("log10", 3),
    unary<Log1p, float, double>("log1p", 3),
    unary<Sin, float, double>("sin", 2),
    unary<Cos, float, double>("cos", 2),
    unary<Tan, float, double>("tan", 4),
    unary<Asin, float, double>("asin", 3),
    unary<Acos, float, double>("acos", 3),
    unary<Atan, float, double>("atan", 3),
    unary<Sinh, float, double>("sinh", 4),
    unary<Cosh, float, double>("cosh", 4),
    unary<Tanh, float, double>("tanh", 3),
    unary<Asinh, float, double>("asinh", 6),
    unary<Acosh, float, double>("acosh", 6),
    unary<Atanh, float, double>("atanh", 6),
    unary<Erf, float, double>("erf", 3),
    unary<Erfc, float, double>("erfc", 6),
    unary<Sigmoid, float, double>("sigmoid", 3),
    unary<Gelu, float, double>("gelu", 4),
    unary<Softplus, float, double>("softplus", 6),
    unary<Elu, float, double>("elu", 4),
    binary<Atan2, float, double>("atan2", 6),
    binary<Hypot, float, double>("hypot", 6),
    pow_kernel(),
    unary<Erfinv, float, double>("erfinv", 8),
    unary<Lgamma, float, double>("lgamma", 20),
    binary<GeluBackward, float, double>("gelu_backward", 8),
    unary<Swish, float, double>("swish", 3),
    binary<SwishBackward, float, double>("swish_backward", 4),
    binary<Logaddexp, float, double>("logaddexp_reals", 8),
    unary<Logsigmoid, float, double>("logsigmoid", 6),
};

}  // namespace

KernelList math_table() { return {kTable, sizeof(kTable) / sizeof(kTable[0])}; }

}  // namespace terra::cpu::TERRA_ISA
