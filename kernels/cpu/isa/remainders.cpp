// Remainders of floats, and division that rounds down, which follows from them. A division by zero gives what IEEE
// says.
#include "kernels/cpu/isa/loop.h"
#include "kernels/cpu/isa/tables.h"

namespace terra::cpu::TERRA_ISA {

namespace {

float exact_remainder(float a, float b) { return __builtin_fmodf(a, b); }
double exact_remainder(double a, double b) { return __builtin_fmod(a, b); }
float round_down(float x) { return __builtin_floorf(x); }
double round_down(double x) { return __builtin_floor(x); }
float with_sign(float x, float sign) { return __builtin_copysignf(x, sign); }
double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }

/// What an op makes of a, b and the exact remainder r, which has the sign of a.
struct Fmod {
  template <class T>
  static T of(T, T, T r) {
    return r;
  }
};
/// Python's a % b: the sign of b.
struct Remainder {
  template <class T>
  static T of(T, T b, T r) {
    return r != T(0) && (b < T(0)) != (r < T(0)) ? r + b : r;
  }
};
/// Python's a // b, right even where a / b rounds to the next integer.
struct FloorDivide {
  template <class T>
  static T of(T a, T b, T r) {
    if (b == T(0)) return a / b;
    T quotient = (a - r) / b;
    if (r != T(0) && (b < T(0)) != (r < T(0))) quotient -= T(1);
    if (quotient == T(0)) return with_sign(T(0), a / b);
    const T rounded = round_down(quotient);
    return quotient - rounded > T(0.5) ? rounded + T(1) : rounded;
  }
};

template <class Op, class T>
struct Exactly : Plain<T> {
  using Plain<T>::Plain;
  T operator()(T a, T b) const { return Op::of(a, b, exact_remainder(a, b)); }
};

/// The same of floats in double: b times a quotient below 2^29 is exact there, and so is what it leaves of a. The
/// quotient may have been rounded up to a whole number, never down from one. Blocks with larger ones are left to the
/// library.
template <class Op>
void float_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  const Exactly<Op, float> exactly(params);
  float a_buffer[kBlock], b_buffer[kBlock], results[kBlock];
  write_blocks<float>(data[0], strides[0], n, [&](float* out, int64_t i, int64_t count) {
    const float* a = read_block(data[1] + i * strides[1], strides[1], count, a_buffer);
    const float* b = read_block(data[2] + i * strides[2], strides[2], count, b_buffer);
    int large = 0;
    for (int64_t k = 0; k < count; ++k) {
      const double x = a[k], y = b[k], quotient = __builtin_trunc(x / y);
      large |= !(__builtin_fabs(quotient) < 0x1p29) | !(__builtin_fabs(y) < 0x1p200);
      double r = x - quotient * y;
      r = r * x < 0 ? r + __builtin_copysign(y, x) : r;
      results[k] = Op::of(a[k], b[k], static_cast<float>(__builtin_copysign(r, x)));
    }
    for (int64_t k = 0; large && k < count; ++k) results[k] = exactly(a[k], b[k]);
    __builtin_memcpy(out, results, static_cast<unsigned long>(count) * sizeof(float));
  });
}

#if defined(__FMA__)
/// The same of doubles: what a quotient below 2^52 leaves of a is a number, which one fused step finds.
template <class Op>
void double_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  const Exactly<Op, double> exactly(params);
  double a_buffer[kBlock], b_buffer[kBlock], results[kBlock];
  write_blocks<double>(data[0], strides[0], n, [&](double* out, int64_t i, int64_t count) {
    const double* a = read_block(data[1] + i * strides[1], strides[1], count, a_buffer);
    const double* b = read_block(data[2] + i * strides[2], strides[2], count, b_buffer);
    int64_t large = 0;
    for (int64_t k = 0; k < count; ++k) {
      const double x = a[k], y = b[k], quotient = __builtin_trunc(x / y);
      large |= !(__builtin_fabs(quotient) < 0x1p52) | !(__builtin_fabs(y) < 0x1p1000);
      double r = __builtin_fma(-quotient, y, x);
      r = (r != 0) & ((r < 0) != (x < 0)) ? r + __builtin_copysign(y, x) : r;
      results[k] = Op::of(x, y, __builtin_copysign(r, x));
    }
    for (int64_t k = 0; large && k < count; ++k) results[k] = exactly(a[k], b[k]);
    __builtin_memcpy(out, results, static_cast<unsigned long>(count) * sizeof(double));
  });
}
#else
template <class Op>
constexpr ElementwiseLoop double_loop = binary_loop<Exactly<Op, double> >;
#endif

template <class Op>
consteval Kernel kernel(std::string_view name) {
  Kernel kernel{.op = name, .cost = 10};
  kernel.loops[static_cast<int>(DType::F32)] = float_loop<Op>;
  kernel.loops[static_cast<int>(DType::F64)] = double_loop<Op>;
  return kernel;
}

constexpr Kernel kTable[] = {kernel<Fmod>("fmod"), kernel<Remainder>("remainder"), kernel<FloorDivide>("floor_divide")};

}  // namespace

KernelList remainder_table() { return {kTable, sizeof(kTable) / sizeof(kTable[0])}; }

}  // namespace terra::cpu::TERRA_ISA
