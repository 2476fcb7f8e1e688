// The routines of kernels/abi/linear_algebra.h, by their names there, over LAPACK.
#pragma once
#include <complex>
#include <string_view>

#include "kernels/cpu/complex_number.h"

namespace terra::cpu::linalg {

template <class T>
int lu(int m, int n, T* a, int* pivots);
template <class T>
int solve(int n, int k, T* a, T* b);
template <class T>
void log_determinant(int n, T* a, T& sign, Real<T>& logarithm);
template <class T>
T determinant(int n, T* a);
template <class T>
int cofactors(int n, T* a);
template <class T>
int cholesky(int n, T* a);
template <class T>
int cholesky_inverse(int n, T* l);
template <class T>
void cholesky_solve(int n, int k, const T* l, T* b);
template <class T>
int ldl(bool hermitian, int n, T* a, int* pivots);
template <class T>
int ldl_solve(bool hermitian, int n, int k, const T* ld, const int* pivots, T* b);
template <class T>
void reflections(int m, int n, T* a, T* tau);
template <class T>
void qr(int m, int n, int columns, T* a, T* q, T* r);
template <class T>
int svd(int m, int n, bool all, T* a, Real<T>* s, T* u, T* vt);
template <class T>
int eigh(int n, char uplo, bool vectors, T* a, Real<T>* w);
template <class T>
int eig(int n, T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v);
template <class T>
int pseudoinverse(int m, int n, Real<T> bound_absolute, Real<T> bound_relative, T* a, T* x);
template <class T>
int pseudoinverse_hermitian(int n, Real<T> bound_absolute, Real<T> bound_relative, T* a, T* x);
template <class T>
int least_squares(std::string_view driver, int m, int n, int k, Real<T> rcond, T* a, T* b, int& rank, Real<T>* s);
template <class T>
void triangular(bool right, bool upper, bool unit, int m, int n, const T* a, T* b);
template <class T>
int square_root(int n, T* a);
template <class T>
int lyapunov(int n, T* s, T* g);
template <class T>
int polar(int m, int n, T* a, T* u, T* h);
template <class T>
void exponential(int n, T* a);

}  // namespace terra::cpu::linalg
