// Matrix products of f32, f64 and their complex numbers: the one door to OpenBLAS and oneDNN's sgemm.
//
// Which library computes a product is measured once for each class of shapes, at its first use, and then fixed for the
// life of the process, so that the same shape gives the same bits whoever asks (eager, a captured graph, one thread or
// many). TERRA_EXACT=1: nothing is measured, and separate runs on one machine agree bit for bit as well.
#pragma once
#include <cstdint>

namespace terra::cpu::blas {

/// The OpenBLAS kernels in use ("SkylakeX"); chosen by a measurement of about a millisecond at the first call of
/// anything here, whatever OPENBLAS_CORETYPE says (TERRA_BLAS_CORE=name overrides). Programs with threads of their own
/// that read the environment call this early: the choice passes OpenBLAS a name through setenv.
const char* core_name();

/// A matrix operand: element (i, j) at data[i * row_stride + j * column_stride].
template <class T>
struct Operand {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
};

/// True iff the libraries take a rows x columns operand with these strides as it is; otherwise pack it first.
bool is_direct(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride);

/// C = alpha * A B + beta * C for A [m, k], B [k, n] and row-major C [m, n] with row stride ldc >= n; with beta == 0,
/// C is not read. Operands must be direct. Splits m or n among the pool's threads, into pieces that are a function
/// of (m, n, k) alone. T: float, double, std::complex of them.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Operand<T> a, Operand<T> b, T beta, T* c, int64_t ldc);

/// The same with a row of n numbers added to each row of A B: the form of a linear layer.
template <class T>
void gemm_bias(int64_t m, int64_t n, int64_t k, Operand<T> a, Operand<T> b, const T* bias, T* c, int64_t ldc);

}  // namespace terra::cpu::blas
