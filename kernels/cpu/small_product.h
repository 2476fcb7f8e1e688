// Products of matrices that are smaller than what it costs to call BLAS: rotations of points, dots of rows.
#pragma once
#include <cstdint>

#include "kernels/cpu/blas.h"
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu {

/// A kind of small product of floats, chosen for all matrices of a batch.
template <class T>
class SmallProduct {
 public:
  /// Of m x k and k x n matrices that lie like these.
  SmallProduct(int64_t m, int64_t n, int64_t k, blas::Operand<T> a, blas::Operand<T> b)
      : m_(m), n_(n), k_(k), by_dots_(k >= kLongDot && a.column_stride == 1 && b.row_stride == 1) {
    const bool few = m * n * k <= kFew, few_dots = by_dots_ && m * n <= kFewDots && k <= kLongestDot;
    pays_ = k > 0 && (few || few_dots);
  }

  bool pays() const { return pays_; }

  /// c = A B, row by row without gaps.
  void operator()(blas::Operand<T> a, blas::Operand<T> b, T* c) const {
    for (int64_t i = 0; i < m_; ++i)
      for (int64_t j = 0; j < n_; ++j) *c++ = element(a.data + i * a.row_stride, a, b.data + j * b.column_stride, b);
  }

 private:
  static constexpr int64_t kFew = 64;  ///< multiplications
  static constexpr int64_t kLongDot = 8, kLongestDot = 4096, kFewDots = 4;

  T element(const T* row, blas::Operand<T> a, const T* column, blas::Operand<T> b) const {
    if (by_dots_) return static_cast<T>(dot_(row, column, k_));
    T sum = row[0] * column[0];
    for (int64_t p = 1; p < k_; ++p) sum += row[p * a.column_stride] * column[p * b.row_stride];
    return sum;
  }

  int64_t m_, n_, k_;
  bool by_dots_, pays_;
  double (*dot_)(const T* a, const T* b, int64_t n) = TERRA_ROWS(norm_rows, NormRows, T).dot;
};

}  // namespace terra::cpu
