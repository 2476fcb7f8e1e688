// Rows of integers added up, times factors: what integer products are made of.
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// Unsigned, and wide enough that products of it are not ints: they wrap around.
template <class T>
struct WrappingOf {
  using type = uint32_t;
};
template <>
struct WrappingOf<int64_t> {
  using type = uint64_t;
};

template <class T>
void add_four(T* to, const T* const* rows, const T* factors, int64_t n) {
  using U = typename WrappingOf<T>::type;
  const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const U u = static_cast<U>(factors[0]), v = static_cast<U>(factors[1]), w = static_cast<U>(factors[2]),
          x = static_cast<U>(factors[3]);
  for (int64_t j = 0; j < n; ++j)
    to[j] = static_cast<T>(static_cast<U>(to[j]) + u * static_cast<U>(a[j]) + v * static_cast<U>(b[j]) +
                           w * static_cast<U>(c[j]) + x * static_cast<U>(d[j]));
}

}  // namespace

IntegerRows<uint8_t> integer_rows(uint8_t) { return {add_four<uint8_t>}; }
IntegerRows<int8_t> integer_rows(int8_t) { return {add_four<int8_t>}; }
IntegerRows<int16_t> integer_rows(int16_t) { return {add_four<int16_t>}; }
IntegerRows<int32_t> integer_rows(int32_t) { return {add_four<int32_t>}; }
IntegerRows<int64_t> integer_rows(int64_t) { return {add_four<int64_t>}; }

}  // namespace terra::cpu::TERRA_ISA
