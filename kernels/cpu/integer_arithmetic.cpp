// Arithmetic of integers and bools. Compiled for the baseline only: integer tensors hold indices and labels.
//
// Integers wrap around as two's complement does.
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/loop.h"

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

/// Where T wraps without undefined behaviour: unsigned, and never promoted to int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;

#define TERRA_INTEGER_UNARY(Name, expression)                      \
  template <class T>                                               \
  struct Name : Plain<T> {                                         \
    using Plain<T>::Plain;                                         \
    T operator()(T x) const { return static_cast<T>(expression); } \
  };
#define TERRA_INTEGER_BINARY(Name, expression)                          \
  template <class T>                                                    \
  struct Name : Plain<T> {                                              \
    using Plain<T>::Plain;                                              \
    T operator()(T a, T b) const { return static_cast<T>(expression); } \
  };

TERRA_INTEGER_UNARY(Neg, Wrapping<T>(0) - static_cast<Wrapping<T>>(x))
TERRA_INTEGER_UNARY(Abs, x < T(0) ? Wrapping<T>(0) - static_cast<Wrapping<T>>(x) : static_cast<Wrapping<T>>(x))
TERRA_INTEGER_UNARY(Sign, (x > T(0)) - (x < T(0)))
TERRA_INTEGER_UNARY(Identity, x)
TERRA_INTEGER_UNARY(Relu, x < T(0) ? T(0) : x)

TERRA_INTEGER_BINARY(Mul, static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b))
TERRA_INTEGER_BINARY(Maximum, a < b ? b : a)
TERRA_INTEGER_BINARY(Minimum, b < a ? b : a)
TERRA_INTEGER_BINARY(BitwiseAnd, a& b)
TERRA_INTEGER_BINARY(BitwiseOr, a | b)
TERRA_INTEGER_BINARY(BitwiseXor, a ^ b)

template <class T>
struct Add {
  using In = T;
  using Out = T;
  explicit Add(const KernelArg* params) : alpha(static_cast<Wrapping<T>>(params[2].number.to_int())) {}
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + alpha * static_cast<Wrapping<T>>(b));
  }
  Wrapping<T> alpha;
};

template <class T>
struct Sub {
  using In = T;
  using Out = T;
  explicit Sub(const KernelArg* params) : alpha(static_cast<Wrapping<T>>(params[2].number.to_int())) {}
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - alpha * static_cast<Wrapping<T>>(b));
  }
  Wrapping<T> alpha;
};

template <class T>
struct Addcmul {
  using First = T;
  using In = T;
  using Out = T;
  explicit Addcmul(const KernelArg* params) : value(static_cast<Wrapping<T>>(params[3].number.to_int())) {}
  T operator()(T self, T a, T b) const {
    return static_cast<T>(static_cast<Wrapping<T>>(self) +
                          value * static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
  Wrapping<T> value;
};

/// The element that is nearest to a number.
template <class T>
T nearest(const Scalar& number) {
  using Limits = std::numeric_limits<T>;
  const auto within = [](auto n) {
    return std::cmp_less(n, Limits::min())      ? Limits::min()
           : std::cmp_greater(n, Limits::max()) ? Limits::max()
                                                : static_cast<T>(n);
  };
  return number.kind() == Scalar::Kind::Unsigned ? within(number.to_unsigned()) : within(number.to_int());
}

/// A missing bound doesn't bind; min(max(x, low), high) as for floats.
template <class T>
struct Clamp {
  using In = T;
  using Out = T;
  explicit Clamp(const KernelArg* params)
      : low(params[1].kind == KernelArg::Kind::None ? std::numeric_limits<T>::min() : nearest<T>(params[1].number)),
        high(params[2].kind == KernelArg::Kind::None ? std::numeric_limits<T>::max() : nearest<T>(params[2].number)) {}
  T operator()(T x) const {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
  T low, high;
};

template <class T>
struct ClampBetween {
  using First = T;
  using In = T;
  using Out = T;
  explicit ClampBetween(const KernelArg*) {}
  T operator()(T x, T low, T high) const {
    const T raised = x < low ? low : x;
    return raised > high ? high : raised;
  }
};

/// By a negative number of places, or by all there are, every bit leaves: zeros come from below, the sign from above.
template <class T>
struct LeftShift : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x, T places) const {
    const auto n = static_cast<uint64_t>(places);
    return n < 8 * sizeof(T) ? static_cast<T>(static_cast<Wrapping<T>>(x) << n) : T(0);
  }
};
template <class T>
struct RightShift : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x, T places) const {
    const auto n = static_cast<uint64_t>(places);
    return n < 8 * sizeof(T) ? static_cast<T>(x >> n) : static_cast<T>(x < T(0) ? -1 : 0);
  }
};

/// Bases 1 and -1 have integer inverses; other negative powers are 0.
template <class T>
struct Pow : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T base, T exponent) const {
    if (exponent < T(0)) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
      return T(0);
    }
    Wrapping<T> result = 1, square = static_cast<Wrapping<T>>(base);
    for (auto rest = static_cast<std::make_unsigned_t<T>>(exponent); rest != 0; rest >>= 1) {
      if (rest & 1) result *= square;
      square *= square;
    }
    return static_cast<T>(result);
  }
};

template <class T>
struct BitwiseNot : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T x) const { return static_cast<T>(~x); }
};
/// Bytes for bools, of which the compiler makes vectors.
template <class>
struct BoolNot : Plain<uint8_t> {
  using Plain<uint8_t>::Plain;
  uint8_t operator()(uint8_t x) const { return x == 0; }
};

/// bool + bool is "or", bool * bool is "and".
template <class T>
struct BoolAdd {
  using In = T;
  using Out = T;
  explicit BoolAdd(const KernelArg* params) : alpha(params[2].number.to_bool()) {}
  T operator()(T a, T b) const { return a | (b & alpha); }
  T alpha;
};
template <class T>
struct BoolAnd : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const { return a & b; }
};
/// False to the power of True alone is False.
template <class T>
struct BoolPow : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T base, T exponent) const { return base | !exponent; }
};

#define TERRA_INTEGERS uint8_t, int8_t, int16_t, int32_t, int64_t
#define TERRA_ALL_INTEGERS TERRA_INTEGERS, uint16_t, uint32_t, uint64_t

constexpr Kernel kKernels[] = {
    unary<Neg, TERRA_INTEGERS>("neg"),
    unary<Abs, TERRA_INTEGERS>("abs"),
    unary<Sign, TERRA_INTEGERS, bool>("sign"),
    unary<Sign, TERRA_INTEGERS, bool>("sgn"),
    unary<Identity, TERRA_ALL_INTEGERS>("floor"),
    unary<Identity, TERRA_ALL_INTEGERS>("ceil"),
    unary<Identity, TERRA_ALL_INTEGERS>("round"),
    unary<Identity, TERRA_ALL_INTEGERS>("trunc"),
    unary<BitwiseNot, TERRA_INTEGERS>("bitwise_not"),
    unary<BoolNot, bool>("bitwise_not"),
    unary<BoolNot, bool>("logical_not"),
    unary<Relu, TERRA_ALL_INTEGERS>("relu"),
    unary<Clamp, TERRA_ALL_INTEGERS>("clamp"),
    unary<Clamp, TERRA_ALL_INTEGERS>("hardtanh"),
    binary<Add, TERRA_INTEGERS>("add"),
    binary<BoolAdd, bool>("add"),
    binary<Sub, TERRA_INTEGERS>("sub"),
    binary<Mul, TERRA_ALL_INTEGERS>("mul"),
    binary<BoolAnd, bool>("mul"),
    binary<Maximum, TERRA_ALL_INTEGERS, bool>("maximum"),
    binary<Minimum, TERRA_ALL_INTEGERS, bool>("minimum"),
    binary<Maximum, TERRA_ALL_INTEGERS, bool>("fmax"),
    binary<Minimum, TERRA_ALL_INTEGERS, bool>("fmin"),
    binary<BitwiseAnd, TERRA_ALL_INTEGERS, bool>("bitwise_and"),
    binary<BitwiseOr, TERRA_ALL_INTEGERS, bool>("bitwise_or"),
    binary<BitwiseXor, TERRA_ALL_INTEGERS, bool>("bitwise_xor"),
    binary<LeftShift, TERRA_INTEGERS>("bitwise_left_shift"),
    binary<RightShift, TERRA_INTEGERS>("bitwise_right_shift"),
    binary<Pow, TERRA_INTEGERS>("pow", 40),
    binary<BoolPow, bool>("pow"),
    ternary<Addcmul, TERRA_INTEGERS>("addcmul"),
    ternary<ClampBetween, TERRA_ALL_INTEGERS>("clamp_between"),
};

}  // namespace

std::span<const Kernel> integer_arithmetic_kernels() { return kKernels; }

}  // namespace terra::cpu
