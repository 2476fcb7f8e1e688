#include "kernels/cpu/linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/lapack.h"

namespace terra::cpu::linalg {
namespace {

/// Elements of a matrix of that many rows and columns.
size_t area(int rows, int columns) { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }

/// Elements by row and column.
template <class T>
struct Matrix {
  T* data;
  int rows;
  T* column(int j) const { return data + area(rows, j); }
  T& operator()(int i, int j) const { return column(j)[i]; }
};

/// The sign of a real number; x / |x| of a complex one.
template <class T>
T direction(T x) {
  if constexpr (kIsComplex<T>)
    return x == T(0) ? x : x / std::abs(x);
  else
    return static_cast<T>((x > 0) - (x < 0));
}

/// The size that LAPACK chooses pivots by.
template <class T>
Real<T> pivot_size(T x) {
  if constexpr (kIsComplex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

/// Matrices up to this many rows and columns cost LAPACK more to begin than to factorize.
constexpr int kSmall = 8;

/// What getrf does of n columns.
template <class T>
int small_lu(int n, Matrix<T> a, int* pivots) {
  int info = 0;
  for (int j = 0; j < std::min(a.rows, n); ++j) {
    int pivot = j;
    for (int i = j + 1; i < a.rows; ++i)
      if (pivot_size(a(i, j)) > pivot_size(a(pivot, j))) pivot = i;
    pivots[j] = pivot + 1;
    if (a(pivot, j) == T(0)) {
      if (info == 0) info = j + 1;
      continue;
    }
    for (int c = 0; pivot != j && c < n; ++c) std::swap(a(j, c), a(pivot, c));
    const T divisor = a(j, j);
    for (int i = j + 1; i < a.rows; ++i) a(i, j) /= divisor;
    for (int c = j + 1; c < n; ++c) {
      const T factor = a(j, c);
      for (int i = j + 1; i < a.rows; ++i) a(i, c) -= a(i, j) * factor;
    }
  }
  return info;
}

/// What getrs does to k columns.
template <class T>
void small_solve(int k, Matrix<T> a, const int* pivots, Matrix<T> b) {
  const int n = a.rows;
  for (int c = 0; c < k; ++c) {
    T* const x = b.column(c);
    for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
    for (int j = 0; j < n; ++j)
      for (int i = j + 1; i < n; ++i) x[i] -= a(i, j) * x[j];
    for (int j = n - 1; j >= 0; --j) {
      x[j] /= a(j, j);
      for (int i = 0; i < j; ++i) x[i] -= a(i, j) * x[j];
    }
  }
}

/// LU of a square matrix, whose U can be looked at.
template <class T>
struct Factored {
  Factored(int n, T* a) : n(n), a(a), pivots(static_cast<size_t>(n)) { info = lu(n, n, a, pivots.data()); }

  T diagonal(int i) const { return Matrix<T>{a, n}(i, i); }
  /// The sign of the permutation.
  T parity() const {
    T sign = 1;
    for (int i = 0; i < n; ++i)
      if (pivots[i] != i + 1) sign = -sign;
    return sign;
  }

  int n;
  T* a;
  std::vector<int> pivots;
  int info;
};

template <class T>
void set_identity(int n, T* a) {
  std::fill_n(a, area(n, n), T(0));
  for (int i = 0; i < n; ++i) Matrix<T>{a, n}(i, i) = 1;
}

/// Zeros above the diagonal of n columns.
template <class T>
void clear_above(int n, T* a) {
  for (int j = 0; j < n; ++j) std::fill_n(Matrix<T>{a, n}.column(j), j, T(0));
}

/// C = alpha A B + beta C of n x n.
template <class T>
void multiply(int n, T alpha, const T* a, const T* b, T beta, T* c) {
  lapack::gemm<T>(n, n, n, alpha, {a, n}, {b, n}, beta, c);
}

/// 1 / s of the numbers that are beyond the bounds, 0 for the others.
template <class R>
std::vector<R> inverted(const std::vector<R>& s, R absolute, R relative) {
  R largest = 0;
  for (const R value : s) largest = std::max(largest, std::abs(value));
  const R bound = std::max(absolute, relative * largest);
  std::vector<R> result;
  for (const R value : s) result.push_back(std::abs(value) > bound ? 1 / value : R(0));
  return result;
}

/// Multiplies column j of m rows by factors[j].
template <class T>
void scale_columns(int m, const std::vector<Real<T>>& factors, T* a) {
  for (const Real<T> factor : factors)
    for (int i = 0; i < m; ++i) *a++ *= factor;
}

/// V diag(factors) V^H of n x n.
template <class T>
void compose(int n, const std::vector<T>& v, const std::vector<Real<T>>& factors, T* out) {
  std::vector<T> scaled(v);
  scale_columns(n, factors, scaled.data());
  lapack::gemm<T>(n, n, n, 1, {scaled.data(), n}, {v.data(), n, 'C'}, 0, out);
}

}  // namespace

template <class T>
int lu(int m, int n, T* a, int* pivots) {
  if (m == 0 || n == 0) return 0;
  return m <= kSmall && n <= kSmall ? small_lu(n, Matrix<T>{a, m}, pivots) : lapack::getrf(m, n, a, pivots);
}

template <class T>
int solve(int n, int k, T* a, T* b) {
  const Factored<T> f(n, a);
  if (n > kSmall && k > 0)
    lapack::getrs(n, k, a, f.pivots.data(), b);
  else
    small_solve(k, Matrix<T>{a, n}, f.pivots.data(), Matrix<T>{b, n});
  return f.info;
}

template <class T>
void log_determinant(int n, T* a, T& sign, Real<T>& logarithm) {
  const Factored<T> f(n, a);
  sign = f.parity();
  logarithm = 0;
  for (int i = 0; i < n; ++i) {
    const T u = f.diagonal(i);
    sign *= direction(u);
    logarithm += std::log(std::abs(u));
  }
}

template <class T>
T determinant(int n, T* a) {
  const Factored<T> f(n, a);
  T product = f.parity();
  for (int i = 0; i < n; ++i) product *= f.diagonal(i);
  return product;
}

/// det(A) A^-T: a tenth of the work, where A is far from singular and its determinant a number. Says whether it is.
template <class T>
bool cofactors_of_regular(int n, T* a) {
  std::vector<T> factors(a, a + area(n, n)), inverse(factors.size());
  const Factored<T> f(n, factors.data());
  Real<T> least = std::numeric_limits<Real<T>>::infinity(), most = 0;
  T product = f.parity();
  for (int i = 0; i < n; ++i) {
    product *= f.diagonal(i);
    least = std::min(least, std::abs(f.diagonal(i)));
    most = std::max(most, std::abs(f.diagonal(i)));
  }
  const bool is_far = least > std::sqrt(std::numeric_limits<Real<T>>::epsilon()) * most;
  if (f.info != 0 || !is_far || !std::isnormal(std::abs(product))) return false;
  set_identity(n, inverse.data());
  lapack::getrs(n, n, factors.data(), f.pivots.data(), inverse.data());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) Matrix<T>{a, n}(i, j) = product * Matrix<T>{inverse.data(), n}(j, i);
  return true;
}

/// With A = U diag(s) V^H they are the conjugates of det(U V^H)* U diag(p) V^H, p[i] being the product of all s but
/// s[i].
template <class T>
int cofactors(int n, T* a) {
  if (n == 0 || (n > 1 && cofactors_of_regular(n, a))) return 0;
  std::vector<Real<T>> s(static_cast<size_t>(n)), others(s);
  std::vector<T> u(area(n, n)), vt(u);
  if (const int info = svd(n, n, true, a, s.data(), u.data(), vt.data()); info != 0) return info;
  Real<T> before = 1, behind = 1;
  for (int i = 0; i < n; before *= s[i++]) others[i] = before;
  for (int i = n - 1; i >= 0; behind *= s[i--]) others[i] *= behind;
  const auto orientation = [n](std::vector<T> lost) { return direction(determinant(n, lost.data())); };
  const T sign = conjugate_of(orientation(u) * orientation(vt));
  scale_columns(n, others, u.data());
  multiply(n, sign, u.data(), vt.data(), T(0), a);
  std::transform(a, a + area(n, n), a, conjugate_of<T>);
  return 0;
}

/// A NaN on the diagonal isn't positive either, which OpenBLAS doesn't see.
template <class T>
int cholesky(int n, T* a) {
  clear_above(n, a);
  if (n == 0) return 0;
  const int info = lapack::potrf(n, a);
  for (int i = 0; info == 0 && i < n; ++i)
    if (std::isnan(std::real(Matrix<T>{a, n}(i, i)))) return i + 1;
  return info;
}

template <class T>
int cholesky_inverse(int n, T* l) {
  const int info = n == 0 ? 0 : lapack::potri(n, l);
  const Matrix<T> inverse{l, n};
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) inverse(i, j) = conjugate_of(inverse(j, i));
  return info;
}

template <class T>
void cholesky_solve(int n, int k, const T* l, T* b) {
  if (n > 0 && k > 0) lapack::potrs(n, k, l, b);
}

template <class T>
int ldl(bool hermitian, int n, T* a, int* pivots) {
  clear_above(n, a);
  return n == 0 ? 0 : lapack::sytrf(hermitian, n, a, pivots);
}

template <class T>
int ldl_solve(bool hermitian, int n, int k, const T* ld, const int* pivots, T* b) {
  // A block of two rows has one negative number twice; LAPACK steps over it without a look at the second.
  for (int i = 0; i < n; ++i) {
    const int p = pivots[i];
    if (p == 0 || p > n || p < -n) return -1;
    if (p < 0 && (++i == n || pivots[i] != p)) return -1;
  }
  return n == 0 || k == 0 ? 0 : lapack::sytrs(hermitian, n, k, ld, pivots, b);
}

template <class T>
void reflections(int m, int n, T* a, T* tau) {
  if (m > 0 && n > 0) lapack::geqrf(m, n, a, tau);
}

template <class T>
void qr(int m, int n, int columns, T* a, T* q, T* r) {
  const int k = std::min(m, n);
  std::vector<T> tau(static_cast<size_t>(k));
  reflections(m, n, a, tau.data());
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < columns; ++i) Matrix<T>{r, columns}(i, j) = i <= j && i < m ? Matrix<T>{a, m}(i, j) : T(0);
  if (!q || m == 0 || columns == 0) return;
  if (k == 0) {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < m; ++i) Matrix<T>{q, m}(i, j) = static_cast<T>(i == j);
    return;
  }
  std::copy_n(a, area(m, k), q);
  lapack::orgqr(m, columns, k, q, tau.data());
}

template <class T>
int svd(int m, int n, bool all, T* a, Real<T>* s, T* u, T* vt) {
  if (m > 0 && n > 0) return lapack::gesdd(!u ? 'N' : all ? 'A' : 'S', m, n, a, s, u, vt);
  if (u && all) {
    set_identity(m, u);
    set_identity(n, vt);
  }
  return 0;
}

template <class T>
int eigh(int n, char uplo, bool vectors, T* a, Real<T>* w) {
  return n == 0 ? 0 : lapack::syevd(vectors ? 'V' : 'N', uplo, n, a, w);
}

template <class T>
int eig(int n, T* a, std::complex<Real<T>>* w, std::complex<Real<T>>* v) {
  if (n == 0) return 0;
  if constexpr (kIsComplex<T>) {
    return lapack::geev(n, a, w, v);
  } else {
    std::vector<T> parts(2 * static_cast<size_t>(n)), vectors(v ? area(n, n) : 0);
    const int info = lapack::geev(n, a, parts.data(), v ? vectors.data() : nullptr);
    const Matrix<T> packed{vectors.data(), n};
    for (int j = 0; j < n; ++j) {
      w[j] = {parts[j], parts[n + j]};
      if (!v) continue;
      // Of a conjugate pair, the one above the real line first, the parts of its vector in the columns of both.
      const T side = parts[n + j] == 0 ? T(0) : parts[n + j] > 0 ? T(1) : T(-1);
      const int re = side < 0 ? j - 1 : j, im = side > 0 ? j + 1 : j;
      for (int i = 0; i < n; ++i)
        Matrix<std::complex<T>>{v, n}(i, j) = {packed(i, re), side == 0 ? T(0) : side * packed(i, im)};
    }
    return info;
  }
}

template <class T>
int pseudoinverse(int m, int n, Real<T> bound_absolute, Real<T> bound_relative, T* a, T* x) {
  const int k = std::min(m, n);
  std::vector<Real<T>> s(static_cast<size_t>(k));
  std::vector<T> u(area(m, k)), vt(area(k, n));
  if (k == 0) return 0;
  if (const int info = svd(m, n, false, a, s.data(), u.data(), vt.data()); info != 0) return info;
  scale_columns(m, inverted(s, bound_absolute, bound_relative), u.data());
  lapack::gemm<T>(n, m, k, 1, {vt.data(), k, 'C'}, {u.data(), m, 'C'}, 0, x);
  return 0;
}

template <class T>
int pseudoinverse_hermitian(int n, Real<T> bound_absolute, Real<T> bound_relative, T* a, T* x) {
  std::vector<Real<T>> w(static_cast<size_t>(n));
  if (const int info = eigh(n, 'U', true, a, w.data()); info != 0) return info;
  if (n > 0) compose(n, {a, a + area(n, n)}, inverted(w, bound_absolute, bound_relative), x);
  return 0;
}

template <class T>
int least_squares(std::string_view driver, int m, int n, int k, Real<T> rcond, T* a, T* b, int& rank, Real<T>* s) {
  rank = 0;
  if (m == 0 || n == 0 || k == 0) {
    std::fill_n(b, area(std::max(m, n), k), T(0));
    return 0;
  }
  lapack::LeastSquares<T> problem{m, n, k, a, b, rcond, 0, s};
  const int info = driver == "gels"    ? problem.gels()
                   : driver == "gelsy" ? problem.gelsy()
                   : driver == "gelss" ? problem.gelss()
                                       : problem.gelsd();
  rank = problem.rank;
  return info;
}

template <class T>
void triangular(bool right, bool upper, bool unit, int m, int n, const T* a, T* b) {
  if (m > 0 && n > 0) lapack::trsm(right ? 'R' : 'L', upper ? 'U' : 'L', unit ? 'U' : 'N', m, n, a, b);
}

template <class T>
int square_root(int n, T* a) {
  std::vector<Real<T>> w(static_cast<size_t>(n));
  if (const int info = eigh(n, 'U', true, a, w.data()); info != 0 || n == 0) return info;
  for (Real<T>& value : w) value = value > 0 ? std::sqrt(value) : Real<T>(0);
  compose(n, {a, a + area(n, n)}, w, a);
  return 0;
}

/// Between the eigenvectors of S each element is divided by the sum of two eigenvalues.
template <class T>
int lyapunov(int n, T* s, T* g) {
  std::vector<Real<T>> w(static_cast<size_t>(n));
  std::vector<T> half(area(n, n));
  if (const int info = eigh(n, 'L', true, s, w.data()); info != 0 || n == 0) return info;
  const auto turn = [&](char left, char right) {  // g becomes V^H g V, or V g V^H
    lapack::gemm<T>(n, n, n, 1, {s, n, left}, {g, n}, 0, half.data());
    lapack::gemm<T>(n, n, n, 1, {half.data(), n}, {s, n, right}, 0, g);
  };
  turn('C', 'N');
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) Matrix<T>{g, n}(i, j) /= w[i] + w[j];
  turn('N', 'C');
  return 0;
}

/// With A = P diag(s) Q^H they are P diag(s) P^H and P Q^H.
template <class T>
int polar(int m, int n, T* a, T* u, T* h) {
  if (m == 0) return 0;
  std::vector<Real<T>> s(static_cast<size_t>(m));
  std::vector<T> p(area(m, m)), qt(area(m, n));
  if (const int info = svd(m, n, false, a, s.data(), p.data(), qt.data()); info != 0) return info;
  lapack::gemm<T>(m, n, m, 1, {p.data(), m}, {qt.data(), m}, 0, u);
  compose(m, p, s, h);
  return 0;
}

/// Pade's approximant of degree 13 of A / 2^s, squared s times (Higham, 2005).
template <class T>
void exponential(int n, T* a) {
  if (n == 0) return;
  constexpr double kBound = 5.371920351148152;
  constexpr int kDegree = 13;
  double coefficients[kDegree + 1] = {1};
  for (int k = 1; k <= kDegree; ++k)
    coefficients[k] = coefficients[k - 1] * (kDegree - k + 1) / (k * (2 * kDegree - k + 1));
  const size_t size = area(n, n);
  double norm = 0;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += static_cast<double>(std::abs(Matrix<T>{a, n}(i, j)));
    if (!std::isfinite(sum)) {
      std::fill_n(a, size, std::numeric_limits<T>::quiet_NaN());
      return;
    }
    norm = std::max(norm, sum);
  }
  const int squarings = norm > kBound ? static_cast<int>(std::ceil(std::log2(norm / kBound))) : 0;
  const Real<T> scale = std::ldexp(Real<T>(1), -squarings);
  for (size_t i = 0; i < size; ++i) a[i] *= scale;

  std::vector<T> a2(size), a4(size), a6(size), high(size), low(size), odd(size);
  multiply(n, T(1), a, a, T(0), a2.data());
  multiply(n, T(1), a2.data(), a2.data(), T(0), a4.data());
  multiply(n, T(1), a4.data(), a2.data(), T(0), a6.data());
  // Three even powers by the coefficients from `degree` on.
  const auto combine = [&](int degree, std::vector<T>& out) {
    const auto c2 = static_cast<Real<T>>(coefficients[degree]), c4 = static_cast<Real<T>>(coefficients[degree + 2]),
               c6 = static_cast<Real<T>>(coefficients[degree + 4]);
    for (size_t i = 0; i < size; ++i) out[i] = c6 * a6[i] + c4 * a4[i] + c2 * a2[i];
  };
  // In `low` the polynomial of the even coefficients, or of the odd ones (parity 1) but for a factor A.
  const auto polynomial = [&](int parity) {
    combine(8 + parity, high);
    combine(2 + parity, low);
    for (int i = 0; i < n; ++i) Matrix<T>{low.data(), n}(i, i) += static_cast<Real<T>>(coefficients[parity]);
    multiply(n, T(1), a6.data(), high.data(), T(1), low.data());
  };
  polynomial(1);
  multiply(n, T(1), a, low.data(), T(0), odd.data());
  polynomial(0);
  for (size_t i = 0; i < size; ++i) {
    a[i] = low[i] + odd[i];
    low[i] -= odd[i];
  }
  solve(n, n, low.data(), a);
  for (int s = 0; s < squarings; ++s) {
    multiply(n, T(1), a, a, T(0), low.data());
    std::copy_n(low.data(), size, a);
  }
}

#define TERRA_LINALG(T, R)                                                          \
  template int lu(int, int, T*, int*);                                              \
  template int solve(int, int, T*, T*);                                             \
  template void log_determinant(int, T*, T&, R&);                                   \
  template T determinant(int, T*);                                                  \
  template int cofactors(int, T*);                                                  \
  template int cholesky(int, T*);                                                   \
  template int cholesky_inverse(int, T*);                                           \
  template void cholesky_solve(int, int, const T*, T*);                             \
  template int ldl(bool, int, T*, int*);                                            \
  template int ldl_solve(bool, int, int, const T*, const int*, T*);                 \
  template void reflections(int, int, T*, T*);                                      \
  template void qr(int, int, int, T*, T*, T*);                                      \
  template int svd(int, int, bool, T*, R*, T*, T*);                                 \
  template int eigh(int, char, bool, T*, R*);                                       \
  template int eig(int, T*, std::complex<R>*, std::complex<R>*);                    \
  template int pseudoinverse(int, int, R, R, T*, T*);                               \
  template int pseudoinverse_hermitian(int, R, R, T*, T*);                          \
  template int least_squares(std::string_view, int, int, int, R, T*, T*, int&, R*); \
  template void triangular(bool, bool, bool, int, int, const T*, T*);               \
  template int square_root(int, T*);                                                \
  template int lyapunov(int, T*, T*);                                               \
  template int polar(int, int, T*, T*, T*);                                         \
  template void exponential(int, T*);

TERRA_LINALG(float, float)
TERRA_LINALG(double, double)
TERRA_LINALG(std::complex<float>, float)
TERRA_LINALG(std::complex<double>, double)

}  // namespace terra::cpu::linalg
