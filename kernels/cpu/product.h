// Matrix products of any number type: floats and complex numbers by kernels/cpu/blas.h, integers by loops.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu {

/// Integer products, modulo the type's range; row by row so that inner loops run along memory, four at a time where
/// rows of b lie so.
template <class T>
void integer_gemm(int64_t m, int64_t n, int64_t k, T alpha, blas::Operand<T> a, blas::Operand<T> b, T beta, T* c) {
  using U = std::make_unsigned_t<std::common_type_t<T, int>>;  // products of narrower ones would be ints
  const ScaledRows<T> loops = TERRA_ROWS(scaled_rows, ScaledRows, T);
  parallel_for(
      m, std::max<int64_t>(1, grain_for_cost(4) / std::max<int64_t>(1, n * k)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          T* row = c + i * n;
          for (int64_t j = 0; j < n; ++j)
            row[j] = beta == 0 ? T{0} : static_cast<T>(static_cast<U>(beta) * static_cast<U>(row[j]));
          const auto factor = [&](int64_t p) {
            return static_cast<U>(static_cast<U>(alpha) *
                                  static_cast<U>(a.data[i * a.row_stride + p * a.column_stride]));
          };
          int64_t p = 0;
          for (; p + 4 <= k && b.column_stride == 1; p += 4) {
            const T* lines[4];
            T factors[4];
            for (int64_t q = 0; q < 4; ++q) {
              lines[q] = b.data + (p + q) * b.row_stride;
              factors[q] = static_cast<T>(factor(p + q));
            }
            loops.add_four(row, lines, factors, n);
          }
          for (; p < k; ++p) {
            const U x = factor(p);
            const T* line = b.data + p * b.row_stride;
            const auto add_row = [&](auto stride) {
              for (int64_t j = 0; j < n; ++j)
                row[j] = static_cast<T>(static_cast<U>(row[j]) + static_cast<U>(x * static_cast<U>(line[j * stride])));
            };
            if (b.column_stride == 1) {  // which the vectorizer wants to know
              add_row(std::integral_constant<int64_t, 1>());
            } else {
              add_row(b.column_stride);
            }
          }
        }
      });
}

/// C = alpha * A B + beta * C for a row-major, gapless C [m, n]; with beta == 0, C is not read. Floating and complex
/// operands must be direct (blas::is_direct).
template <class T>
void product(int64_t m, int64_t n, int64_t k, T alpha, blas::Operand<T> a, blas::Operand<T> b, T beta, T* c) {
  if constexpr (!std::is_integral_v<T>) {
    blas::gemm<T>(m, n, k, alpha, a, b, beta, c, n);
  } else {
    integer_gemm<T>(m, n, k, alpha, a, b, beta, c);
  }
}

}  // namespace terra::cpu
