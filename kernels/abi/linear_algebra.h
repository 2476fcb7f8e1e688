// A library of linear algebra: what it computes for one matrix. Matrices lie column by column without gaps and may be
// empty. The result of a routine, where it isn't void, is LAPACK's `info`: 0 went well.
#pragma once
#include <complex>
#include <string_view>
#include <tuple>

#include "kernels/abi/real_part.h"

namespace terra {

/// The routines for one type of numbers. T: float, double and complex numbers of these.
template <class T>
struct LinearAlgebra {
  /// A = P L U of m x n, in its place: U on and above the diagonal, L below. pivots: min(m, n) rows, counted from 1,
  /// that changed places. info i: U[i, i] is zero.
  int (*lu)(int m, int n, T* a, int* pivots);
  /// B of n x k becomes A^-1 B; A becomes its L and U. A singular A leaves infinities in B. info as for lu.
  int (*solve)(int n, int k, T* a, T* b);
  /// det A, as a sign (complex: a number of length 1) and the logarithm of its absolute value. A is lost.
  void (*log_determinant)(int n, T* a, T& sign, Real<T>& logarithm);
  /// det A. A is lost.
  T (*determinant)(int n, T* a);
  /// The derivatives of det A by the elements of A, singular or not, in its place.
  int (*cofactors)(int n, T* a);

  /// A = L L^H: L in place of A, of which the lower triangle is read. info i: the leading minor of order i isn't
  /// positive.
  int (*cholesky)(int n, T* a);
  /// (L L^H)^-1 in place of L. info i: L[i, i] is zero.
  int (*cholesky_inverse)(int n, T* l);
  /// B of n x k becomes (L L^H)^-1 B.
  void (*cholesky_solve)(int n, int k, const T* l, T* b);
  /// A = L D L^T, or L D L^H of a Hermitian A, in place of the lower triangle of A; zeros above.
  int (*ldl)(bool hermitian, int n, T* a, int* pivots);
  /// B of n x k becomes A^-1 B, from what ldl made. The pivots may be anything: such that ldl can't have made are
  /// refused, by info -1.
  int (*ldl_solve)(bool hermitian, int n, int k, const T* ld, const int* pivots, T* b);

  /// The reflections of A = Q R and their factors, min(m, n) of them, as LAPACK leaves them.
  void (*reflections)(int m, int n, T* a, T* tau);
  /// A = Q R of m x n with Q of m x columns and R of columns x n. q may be null. A is lost.
  void (*qr)(int m, int n, int columns, T* a, T* q, T* r);
  /// A = U diag(s) V^H with all columns of U and V, or min(m, n) of each; u null: s alone. A is lost.
  int (*svd)(int m, int n, bool all, T* a, Real<T>* s, T* u, T* vt);
  /// Eigenvalues of a Hermitian A, ascending, of which the triangle uplo ('L' or 'U') is read; vectors in its place.
  int (*eigh)(int n, char uplo, bool vectors, T* a, Real<T>* w);
  /// Eigenvalues of any A and, unless v is null, vectors of length 1 in the columns of v. A is lost.
  int (*eig)(int n, T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v);
  /// The inverse of what can be inverted in A: x of n x m from A of m x n, singular values above the bound alone. A is
  /// lost.
  int (*pseudoinverse)(int m, int n, Real<T> bound_absolute, Real<T> bound_relative, T* a, T* x);
  /// The same of a Hermitian A, of which the upper triangle is read.
  int (*pseudoinverse_hermitian)(int n, Real<T> bound_absolute, Real<T> bound_relative, T* a, T* x);
  /// X of n x k with the smallest |A X - B|, in the first n of max(m, n) rows of b. driver: "gels", "gelsy", "gelss" or
  /// "gelsd". s may be null for the first two. A is lost.
  int (*least_squares)(std::string_view driver, int m, int n, int k, Real<T> rcond, T* a, T* b, int& rank, Real<T>* s);
  /// B of m x n becomes A^-1 B, or B A^-1 on the right, for a triangular A.
  void (*triangular)(bool right, bool upper, bool unit, int m, int n, const T* a, T* b);
  /// The X with X X = A for a Hermitian A, of which the upper triangle is read, in its place; negative eigenvalues
  /// count as zero.
  int (*square_root)(int n, T* a);
  /// The Z with S Z + Z S = G for a Hermitian S, in place of G. S is lost.
  int (*lyapunov)(int n, T* s, T* g);
  /// A = H U of m x n, m <= n, with orthonormal rows of U and a Hermitian H. A is lost.
  int (*polar)(int m, int n, T* a, T* u, T* h);
  /// e to the power of A, in its place.
  void (*exponential)(int n, T* a);
};

/// Those of all types. Nobody may be inside a routine while `start` runs for the first time; it has to be called before
/// any of them.
struct LinearAlgebraLibrary {
  void (*start)();
  /// What computes, for reports.
  const char* (*name)();
  std::tuple<LinearAlgebra<float>, LinearAlgebra<double>, LinearAlgebra<std::complex<float>>,
             LinearAlgebra<std::complex<double>>>
      routines;
};

}  // namespace terra
