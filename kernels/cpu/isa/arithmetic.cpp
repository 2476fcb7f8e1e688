// Arithmetic of floats that is exact or correctly rounded, which the compiler vectorizes.
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu::TERRA_ISA {

namespace {

float square_root(float x) { return __builtin_sqrtf(x); }
double square_root(double x) { return __builtin_sqrt(x); }
float round_down(float x) { return __builtin_floorf(x); }
double round_down(double x) { return __builtin_floor(x); }
float round_up(float x) { return __builtin_ceilf(x); }
double round_up(double x) { return __builtin_ceil(x); }
float round_to_even(float x) { return __builtin_rintf(x); }
double round_to_even(double x) { return __builtin_rint(x); }
float round_to_zero(float x) { return __builtin_truncf(x); }
double round_to_zero(double x) { return __builtin_trunc(x); }
float magnitude(float x) { return __builtin_fabsf(x); }
double magnitude(double x) { return __builtin_fabs(x); }
float with_sign(float x, float sign) { return __builtin_copysignf(x, sign); }
double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }

#define TERRA_UNARY(Name, expression)              \
  template <class T>                               \
  struct Name : Plain<T> {                         \
    using Plain<T>::Plain;                         \
    T operator()(T x) const { return expression; } \
  };

#define TERRA_BINARY(Name, expression)                  \
  template <class T>                                    \
  struct Name : Plain<T> {                              \
    using Plain<T>::Plain;                              \
    T operator()(T a, T b) const { return expression; } \
  };

TERRA_UNARY(Neg, -x)
TERRA_UNARY(Abs, magnitude(x))
TERRA_UNARY(Sign, T(T(0) < x) - T(x < T(0)))
TERRA_UNARY(Floor, round_down(x))
TERRA_UNARY(Ceil, round_up(x))
TERRA_UNARY(Round, round_to_even(x))
TERRA_UNARY(Trunc, round_to_zero(x))
TERRA_UNARY(Sqrt, square_root(x))
TERRA_UNARY(Rsqrt, T(1) / square_root(x))
TERRA_UNARY(Reciprocal, T(1) / x)
TERRA_UNARY(Relu, x < T(0) ? T(0) : x)

TERRA_BINARY(Mul, a* b)
TERRA_BINARY(Divide, a / b)
TERRA_BINARY(TruncDivide, round_to_zero(a / b))
TERRA_BINARY(Copysign, with_sign(a, b))
// A NaN wins, the first of equals wins.
TERRA_BINARY(Maximum, a < b || b != b ? b : a)
TERRA_BINARY(Minimum, b < a || b != b ? b : a)
// A NaN loses.
TERRA_BINARY(Fmax, a < b || a != a ? b : a)
TERRA_BINARY(Fmin, b < a || a != a ? b : a)
// Gradients from a result y of the forward op: s'(x) = y (1 - y), tanh'(x) = 1 - y^2.
TERRA_BINARY(SigmoidBackward, a* b*(T(1) - b))
TERRA_BINARY(TanhBackward, a*(T(1) - b * b))

template <class T>
struct Add {
  using In = T;
  using Out = T;
  explicit Add(const KernelArg* params) : alpha(attribute<T>(params, 2)) {}
  T operator()(T a, T b) const { return a + alpha * b; }
  T alpha;
};

template <class T>
struct Sub {
  using In = T;
  using Out = T;
  explicit Sub(const KernelArg* params) : alpha(attribute<T>(params, 2)) {}
  T operator()(T a, T b) const { return a - alpha * b; }
  T alpha;
};

template <class T>
struct LeakyRelu {
  using In = T;
  using Out = T;
  explicit LeakyRelu(const KernelArg* params) : slope(attribute<T>(params, 1)) {}
  T operator()(T x) const { return x > T(0) ? x : x * slope; }
  T slope;
};

/// x moved by lambda towards 0; what would pass it is a zero of the sign of x.
template <class T>
struct Softshrink {
  using In = T;
  using Out = T;
  explicit Softshrink(const KernelArg* params) : lambda(attribute<T>(params, 1)) {}
  T operator()(T x) const { return magnitude(x) <= lambda ? x * T(0) : x > T(0) ? x - lambda : x + lambda; }
  T lambda;
};

template <class T>
struct Hardshrink {
  using In = T;
  using Out = T;
  explicit Hardshrink(const KernelArg* params) : lambda(attribute<T>(params, 1)) {}
  T operator()(T x) const { return magnitude(x) <= lambda ? T(0) : x; }
  T lambda;
};

/// From 0 at -3 to 1 at 3; a NaN stays.
template <class T>
T hard_step(T x) {
  const T raised = x + T(3) < T(0) ? T(0) : x + T(3);
  return (raised > T(6) ? T(6) : raised) / T(6);
}
TERRA_UNARY(Hardsigmoid, hard_step(x))
TERRA_UNARY(Hardswish, x* hard_step(x))

/// The slope of x * hard_step(x) is x / 3 + 1 / 2 between its ends, 0 before and 1 behind them.
TERRA_BINARY(HardswishBackward, b <= T(-3) ? T(0) : b < T(3) ? a * (b / T(3) + T(0.5)) : a)

/// A parabola up to the knee on either side, lines behind; a NaN stays.
template <class T>
struct ParabolaWithLines {
  using In = T;
  using Out = T;
  explicit ParabolaWithLines(const KernelArg* params) : knee(attribute<T>(params, 1)) {}
  T operator()(T x) const {
    const T size = magnitude(x), m = size > knee ? knee : size;
    return m * (size - T(0.5) * m);
  }
  T knee;
};

template <class T>
struct ThresholdBackward {
  using In = T;
  using Out = T;
  explicit ThresholdBackward(const KernelArg* params) : threshold(attribute<T>(params, 2)) {}
  T operator()(T grad, T x) const { return x <= threshold ? T(0) : grad; }
  T threshold;
};

/// self + value * (a * b) and self + value * (a / b), the factor first as PyTorch has it.
template <class T>
struct Addcmul {
  using First = T;
  using In = T;
  using Out = T;
  explicit Addcmul(const KernelArg* params) : value(attribute<T>(params, 3)) {}
  T operator()(T self, T a, T b) const { return self + value * a * b; }
  T value;
};
template <class T>
struct Addcdiv {
  using First = T;
  using In = T;
  using Out = T;
  explicit Addcdiv(const KernelArg* params) : value(attribute<T>(params, 3)) {}
  T operator()(T self, T a, T b) const { return self + value * a / b; }
  T value;
};

/// Between a and b, from the nearer end: weight 1 gives b exactly.
template <class T>
struct Lerp {
  using First = T;
  using In = T;
  using Out = T;
  explicit Lerp(const KernelArg*) {}
  T operator()(T a, T b, T weight) const {
    const T difference = b - a;
    return magnitude(weight) < T(0.5) ? a + weight * difference : b - difference * (T(1) - weight);
  }
};

/// Floats of 16 bits, whose sign is the top one.
struct NegHalf : Plain<uint16_t> {
  using Plain<uint16_t>::Plain;
  uint16_t operator()(uint16_t x) const { return x ^ 0x8000; }
};
struct AbsHalf : Plain<uint16_t> {
  using Plain<uint16_t>::Plain;
  uint16_t operator()(uint16_t x) const { return x & 0x7fff; }
};

/// The kernel with a loop of its own for those.
consteval Kernel with_halves(Kernel kernel, ElementwiseLoop loop) {
  kernel.loops[static_cast<int>(DType::F16)] = kernel.loops[static_cast<int>(DType::BF16)] = loop;
  return kernel;
}

constexpr Kernel kTable[] = {
    with_halves(unary<Neg, float, double>("neg"), unary_loop<NegHalf>),
    with_halves(unary<Abs, float, double>("abs"), unary_loop<AbsHalf>),
    unary<Sign, float, double>("sign"),
    unary<Sign, float, double>("sgn"),
    unary<Floor, float, double>("floor"),
    unary<Ceil, float, double>("ceil"),
    unary<Round, float, double>("round"),
    unary<Trunc, float, double>("trunc"),
    unary<Sqrt, float, double>("sqrt", 2),
    unary<Rsqrt, float, double>("rsqrt", 4),
    unary<Reciprocal, float, double>("reciprocal", 2),
    unary<Relu, float, double>("relu"),
    unary<LeakyRelu, float, double>("leaky_relu"),
    unary<Softshrink, float, double>("softshrink"),
    unary<Hardshrink, float, double>("hardshrink"),
    unary<Hardsigmoid, float, double>("hardsigmoid", 2),
    unary<Hardswish, float, double>("hardswish", 2),
    unary<ParabolaWithLines, float, double>("parabola_with_lines"),
    binary<Add, float, double>("add"),
    binary<Sub, float, double>("sub"),
    binary<Mul, float, double>("mul"),
    binary<Divide, float, double>("true_divide", 2),
    binary<TruncDivide, float, double>("trunc_divide", 2),
    binary<Copysign, float, double>("copysign"),
    binary<Maximum, float, double>("maximum"),
    binary<Minimum, float, double>("minimum"),
    binary<Fmax, float, double>("fmax"),
    binary<Fmin, float, double>("fmin"),
    binary<SigmoidBackward, float, double>("sigmoid_backward"),
    binary<TanhBackward, float, double>("tanh_backward"),
    binary<HardswishBackward, float, double>("hardswish_backward", 2),
    binary<ThresholdBackward, float, double>("threshold_backward"),
    ternary<Addcmul, float, double>("addcmul", 2),
    ternary<Addcdiv, float, double>("addcdiv", 3),
    ternary<Lerp, float, double>("lerp_reals", 2),
};

}  // namespace

KernelList arithmetic_table() { return {kTable, sizeof(kTable) / sizeof(kTable[0])}; }

}  // namespace terra::cpu::TERRA_ISA
