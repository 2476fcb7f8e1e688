// Rows of numbers added up, times factors: what products of integers, and of matrices with few entries, are made of.
#include <type_traits>

#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// Of integers an unsigned type, wide enough that products of it are not ints: they wrap around.
template <class T>
using Wrapping =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

template <class T>
void add_four(T* to, const T* const* rows, const T* factors, int64_t n) {
  using U = Wrapping<T>;
  const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const U u = static_cast<U>(factors[0]), v = static_cast<U>(factors[1]), w = static_cast<U>(factors[2]),
          x = static_cast<U>(factors[3]);
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j)
    to[j] = static_cast<T>(static_cast<U>(to[j]) + u * static_cast<U>(a[j]) + v * static_cast<U>(b[j]) +
                           w * static_cast<U>(c[j]) + x * static_cast<U>(d[j]));
}

}  // namespace

ScaledRows<uint8_t> scaled_rows(uint8_t) { return {add_four<uint8_t>}; }
ScaledRows<int8_t> scaled_rows(int8_t) { return {add_four<int8_t>}; }
ScaledRows<int16_t> scaled_rows(int16_t) { return {add_four<int16_t>}; }
ScaledRows<int32_t> scaled_rows(int32_t) { return {add_four<int32_t>}; }
ScaledRows<int64_t> scaled_rows(int64_t) { return {add_four<int64_t>}; }
ScaledRows<float> scaled_rows(float) { return {add_four<float>}; }
ScaledRows<double> scaled_rows(double) { return {add_four<double>}; }

}  // namespace terra::cpu::TERRA_ISA
