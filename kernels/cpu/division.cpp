// Division of integers that rounds, and remainders. A division by zero throws KernelError "ZeroDivisionError".
#include <numeric>
#include <type_traits>

#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/loop.h"

namespace terra::cpu {

namespace {

using namespace TERRA_ISA;

/// Quotients of two such numbers, cut to integers, are right: none is rounded up to the next integer.
inline bool is_exact_double(int64_t x) { return x > -(int64_t{1} << 52) && x < int64_t{1} << 52; }

/// Integer division that refuses 0 and wraps for the lowest number over -1, where the processor traps.
template <class T>
struct IntegerDivision {
  T quotient, remainder;
  IntegerDivision(T a, T b) {
    if (b == T(0)) throw KernelError(KernelError::Kind::Runtime, "ZeroDivisionError");
    if constexpr (sizeof(T) == sizeof(int64_t)) {  // a fraction of the time of the instruction for integers
      if (is_exact_double(a) && is_exact_double(b)) {
        quotient = static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
        remainder = a - quotient * b;
        return;
      }
    }
    if (std::is_signed_v<T> && b == T(-1)) {
      quotient = static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
      remainder = T(0);
    } else {
      quotient = static_cast<T>(a / b);
      remainder = static_cast<T>(a % b);
    }
  }
  /// 1 iff truncation rounded a negative quotient up. Without a jump: remainders are as good as random.
  T rounded_up(T b) const { return static_cast<T>((remainder != T(0)) & ((remainder < T(0)) != (b < T(0)))); }
};

/// Python's a // b.
template <class T>
struct FloorDivide : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const {
    const IntegerDivision<T> d(a, b);
    return static_cast<T>(d.quotient - d.rounded_up(b));
  }
};

/// Python's a % b: the sign of b.
template <class T>
struct Remainder : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const {
    const IntegerDivision<T> d(a, b);
    return static_cast<T>(d.remainder + d.rounded_up(b) * b);
  }
};

/// C's a % b: the sign of a.
template <class T>
struct Fmod : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const { return IntegerDivision<T>(a, b).remainder; }
};

template <class T>
struct TruncDivide : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const { return IntegerDivision<T>(a, b).quotient; }
};

/// The size of a number in the unsigned type of its width, or wider.
template <class T>
auto magnitude(T x) {
  using Wide = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
  return x < T(0) ? Wide(0) - static_cast<Wide>(x) : static_cast<Wide>(x);
}

template <class T>
struct Gcd : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const { return static_cast<T>(std::gcd(magnitude(a), magnitude(b))); }
};

template <class T>
struct Lcm : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const {
    const auto x = magnitude(a), y = magnitude(b), divisor = std::gcd(x, y);
    using Signed = std::make_signed_t<decltype(divisor + 0)>;
    return divisor == 0 ? T(0) : static_cast<T>(magnitude(static_cast<Signed>(x / divisor * y)));
  }
};

#define TERRA_INTEGERS uint8_t, int8_t, int16_t, int32_t, int64_t

constexpr Kernel kKernels[] = {
    binary<FloorDivide, TERRA_INTEGERS>("floor_divide", 30),
    binary<Remainder, TERRA_INTEGERS>("remainder", 30),
    binary<Fmod, TERRA_INTEGERS>("fmod", 30),
    binary<TruncDivide, TERRA_INTEGERS>("trunc_divide", 10),
    binary<Gcd, TERRA_INTEGERS>("gcd", 200),
    binary<Lcm, TERRA_INTEGERS>("lcm", 200),
};

}  // namespace

std::span<const Kernel> division_kernels() { return kKernels; }

}  // namespace terra::cpu
