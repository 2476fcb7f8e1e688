// Arithmetic and comparisons of complex numbers, and how they are made of their parts.
#include "kernels/cpu/complex_number.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/reducer_loops.h"

#include <cmath>

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

#define TERRA_COMPLEX_UNARY(Name, Result, expression)   \
  template <class C>                                    \
  struct Name : Plain<C, Result> {                      \
    using Plain<C, Result>::Plain;                      \
    Result operator()(C x) const { return expression; } \
  };
#define TERRA_COMPLEX_BINARY(Name, Result, expression)       \
  template <class C>                                         \
  struct Name : Plain<C, Result> {                           \
    using Plain<C, Result>::Plain;                           \
    Result operator()(C a, C b) const { return expression; } \
  };

double length_of(std::complex<double> x) { return std::abs(x); }
/// The squares of single precision neither overflow nor vanish in double precision.
float length_of(std::complex<float> x) {
  const double real = x.real(), imag = x.imag();
  const auto length = static_cast<float>(std::sqrt(real * real + imag * imag));
  return std::isinf(x.real()) || std::isinf(x.imag()) ? INFINITY : length;
}

/// Infinite numbers have none.
template <class R>
std::complex<R> direction(std::complex<R> x) {
  if (std::isinf(x.real()) || std::isinf(x.imag())) return {R(NAN), R(NAN)};
  const R length = length_of(x);
  return length == 0 ? std::complex<R>() : std::complex<R>(x.real() / length, x.imag() / length);
}

TERRA_COMPLEX_UNARY(Neg, C, -x)
TERRA_COMPLEX_UNARY(Conj, C, std::conj(x))
TERRA_COMPLEX_UNARY(Abs, Real<C>, length_of(x))
TERRA_COMPLEX_UNARY(Sgn, C, direction(x))
TERRA_COMPLEX_UNARY(Reciprocal, C, over(C(1), x))
TERRA_COMPLEX_UNARY(LogicalNot, bool, x == C(0))
TERRA_COMPLEX_UNARY(IsNan, bool, std::isnan(x.real()) || std::isnan(x.imag()))
TERRA_COMPLEX_UNARY(IsInf, bool, std::isinf(x.real()) || std::isinf(x.imag()))

TERRA_COMPLEX_BINARY(Mul, C, times(a, b))
TERRA_COMPLEX_BINARY(Divide, C, over(a, b))
TERRA_COMPLEX_BINARY(Eq, bool, a == b)
TERRA_COMPLEX_BINARY(Ne, bool, a != b)
TERRA_COMPLEX_BINARY(LogicalAnd, bool, (a != C(0)) & (b != C(0)))
TERRA_COMPLEX_BINARY(LogicalOr, bool, (a != C(0)) | (b != C(0)))
TERRA_COMPLEX_BINARY(LogicalXor, bool, (a != C(0)) ^ (b != C(0)))
// Gradients from a result y of the forward op: s'(x) = y (1 - y), tanh'(x) = 1 - y^2.
TERRA_COMPLEX_BINARY(SigmoidBackward, C, times(times(a, b), C(1) - b))
TERRA_COMPLEX_BINARY(TanhBackward, C, times(a, C(1) - times(b, b)))

/// What an op with a factor among its attributes computes.
template <class C, int Attribute>
struct Scaled {
  using First = C;
  using In = C;
  using Out = C;
  explicit Scaled(const KernelArg* params) : factor(complex_attribute<C>(params, Attribute)) {}
  C factor;
};
template <class C>
struct Add : Scaled<C, 2> {
  using Scaled<C, 2>::Scaled;
  C operator()(C a, C b) const { return a + times(this->factor, b); }
};
template <class C>
struct Sub : Scaled<C, 2> {
  using Scaled<C, 2>::Scaled;
  C operator()(C a, C b) const { return a - times(this->factor, b); }
};
template <class C>
struct Addcmul : Scaled<C, 3> {
  using Scaled<C, 3>::Scaled;
  C operator()(C self, C a, C b) const { return self + times(times(this->factor, a), b); }
};
template <class C>
struct Addcdiv : Scaled<C, 3> {
  using Scaled<C, 3>::Scaled;
  C operator()(C self, C a, C b) const { return self + over(times(this->factor, a), b); }
};

/// complex(real, imag), and polar(abs, angle): from real parts.
template <class R>
struct Complex : Plain<R, std::complex<R>> {
  using Plain<R, std::complex<R>>::Plain;
  std::complex<R> operator()(R real, R imag) const { return {real, imag}; }
};
template <class R>
struct Polar : Plain<R, std::complex<R>> {
  using Plain<R, std::complex<R>>::Plain;
  std::complex<R> operator()(R length, R angle) const { return {length * std::cos(angle), length * std::sin(angle)}; }
};
/// The angle of a complex number: the vectors' atan2 of its parts where they lie.
template <class R>
void angle_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  static const ElementwiseLoop atan2 =
      find_kernel("atan2")->loops[static_cast<int>(sizeof(R) == sizeof(float) ? DType::F32 : DType::F64)];
  char* const parts[] = {data[0], data[1] + sizeof(R), data[1]};
  const int64_t steps[] = {strides[0], strides[1], strides[1]};
  atan2(parts, steps, n, params);
}
consteval Kernel angle_of_parts() {
  Kernel kernel{.op = "angle", .cost = 6};
  kernel.loops[static_cast<int>(DType::C64)] = angle_loop<float>;
  kernel.loops[static_cast<int>(DType::C128)] = angle_loop<double>;
  return kernel;
}
/// The angle of a real number: 0, or pi of a negative one.
template <class R>
struct RealAngle : Plain<R> {
  using Plain<R>::Plain;
  R operator()(R x) const { return x != x ? x : x < 0 ? static_cast<R>(M_PI) : R(0); }
};

#define TERRA_COMPLEX std::complex<float>, std::complex<double>

constexpr Kernel kKernels[] = {
    unary<Neg, TERRA_COMPLEX>("neg"),
    unary<Conj, TERRA_COMPLEX>("conj_elements"),
    unary<Abs, TERRA_COMPLEX>("abs", 4),
    angle_of_parts(),
    unary<RealAngle, float, double>("angle"),
    unary<Sgn, TERRA_COMPLEX>("sgn", 8),
    unary<Reciprocal, TERRA_COMPLEX>("reciprocal", 8),
    unary<LogicalNot, TERRA_COMPLEX>("logical_not"),
    unary<IsNan, TERRA_COMPLEX>("isnan"),
    unary<IsInf, TERRA_COMPLEX>("isinf"),
    binary<Add, TERRA_COMPLEX>("add", 2),
    binary<Sub, TERRA_COMPLEX>("sub", 2),
    binary<Mul, TERRA_COMPLEX>("mul", 2),
    binary<Divide, TERRA_COMPLEX>("true_divide", 8),
    binary<Eq, TERRA_COMPLEX>("eq"),
    binary<Ne, TERRA_COMPLEX>("ne"),
    binary<LogicalAnd, TERRA_COMPLEX>("logical_and"),
    binary<LogicalOr, TERRA_COMPLEX>("logical_or"),
    binary<LogicalXor, TERRA_COMPLEX>("logical_xor"),
    binary<SigmoidBackward, TERRA_COMPLEX>("sigmoid_backward", 4),
    binary<TanhBackward, TERRA_COMPLEX>("tanh_backward", 4),
    binary<Complex, float, double>("complex"),
    binary<Polar, float, double>("polar", 60),
    ternary<Addcmul, TERRA_COMPLEX>("addcmul", 3),
    ternary<Addcdiv, TERRA_COMPLEX>("addcdiv", 10),
};

/// Sums and products of complex numbers, in pairs of doubles; there is no largest one.
template <class C>
struct ComplexSum {
  using In = C;
  using Lane = std::complex<double>;
  using Acc = std::complex<double>;
  using Out = C;
  static Lane start() { return 0; }
  static Lane lane(C x) { return Lane(x); }
  static Lane take(Lane lane, Lane x) { return lane + x; }
  static Acc widen(Lane lane) { return lane; }
  static Acc merge(Acc a, Acc b) { return a + b; }
};
template <class C>
struct ComplexProd : ComplexSum<C> {
  using Lane = std::complex<double>;
  static Lane start() { return 1; }
  static Lane take(Lane lane, Lane x) { return times(lane, x); }
  static Lane merge(Lane a, Lane b) { return times(a, b); }
};

template <class C>
constexpr Reducer kComplexReducers[kFoldCount] = {reducer<ComplexSum<C>>(), reducer<ComplexProd<C>>(), {}, {},
                                                  reducer<AnyFold<C>>(),    reducer<AllFold<C>>()};

}  // namespace

std::span<const Kernel> complex_kernels() { return kKernels; }

const Reducer* complex_reducers(DType dtype) {
  return dtype == DType::C64 ? kComplexReducers<std::complex<float>> : kComplexReducers<std::complex<double>>;
}

}  // namespace terra::cpu
