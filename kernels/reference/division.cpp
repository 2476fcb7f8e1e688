// What rounding division and remainders mean.
#include <cmath>

#include "kernels/abi/kernel_error.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace terra::reference {

namespace {

void refuse_zero(int64_t divisor) {
  if (divisor == 0) throw KernelError(KernelError::Kind::Runtime, "ZeroDivisionError");
}

/// -2^63 / -1 does not exist in int64; it wraps.
int64_t quotient(int64_t a, int64_t b) { return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b; }
int64_t remainder_of(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

constexpr auto kFloorDivide = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>) {
    refuse_zero(b);
    const int64_t r = remainder_of(a, b);
    return quotient(a, b) - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
  } else {
    if (b == 0) return a / b;
    const double r = std::fmod(a, b);
    const double q = std::nearbyint((a - r) / b) - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
    return q == 0 ? std::copysign(0.0, a / b) : q;
  }
};

constexpr auto kRemainder = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>) {
    refuse_zero(b);
    const int64_t r = remainder_of(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
};

constexpr auto kFmod = [](auto a, auto b) {
  if constexpr (std::is_integral_v<decltype(a)>) {
    refuse_zero(b);
    return remainder_of(a, b);
  } else {
    return std::fmod(a, b);
  }
};

/// The quotient of floats is rounded to their dtype before it is truncated, or 0.3f / 0.1f would be 3 in one precision
/// and 2 in the other.
template <class T>
void trunc_divide_floats(char* const* data, const int64_t* strides, int64_t n, const KernelArg*) {
  for (int64_t i = 0; i < n; ++i) {
    const T q = element<T>(data, strides, 1, i) / element<T>(data, strides, 2, i);
    element<T>(data, strides, 0, i) = std::trunc(q);
  }
}

constexpr auto kTruncDivide = [](int64_t a, int64_t b) {
  refuse_zero(b);
  return quotient(a, b);
};

consteval Kernel trunc_divide() {
  Kernel k = elementwise<2, kTruncDivide, kIntegers>("trunc_divide");
  k.loops[static_cast<int>(DType::F32)] = trunc_divide_floats<float>;
  k.loops[static_cast<int>(DType::F64)] = trunc_divide_floats<double>;
  return k;
}

/// Euclid's algorithm.
constexpr auto kGcd = [](int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = b == -1 ? 0 : a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a;
};
constexpr auto kLcm = [](int64_t a, int64_t b) {
  const int64_t divisor = kGcd(a, b);
  const int64_t multiple =
      divisor == 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a / divisor) * static_cast<uint64_t>(b));
  return multiple < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(multiple)) : multiple;
};

constexpr Kernel kKernels[] = {
    elementwise<2, kFloorDivide, kNumbers>("floor_divide"),
    elementwise<2, kRemainder, kNumbers>("remainder"),
    elementwise<2, kFmod, kNumbers>("fmod"),
    trunc_divide(),
    elementwise<2, kGcd, kIntegers>("gcd"),
    elementwise<2, kLcm, kIntegers>("lcm"),
};

}  // namespace

std::span<const Kernel> division_kernels() { return kKernels; }

}  // namespace terra::reference
