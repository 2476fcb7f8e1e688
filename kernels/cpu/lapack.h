// LAPACK and BLAS of the static OpenBLAS: their Fortran symbols, and one overloaded C++ name for each routine.
//
// Matrices lie column by column without gaps. Each function gives LAPACK's `info`: 0 went well, i > 0 says where it
// didn't. Sizes are positive. The routines used here keep nothing between calls: threads may call them at once.
#pragma once
#include <algorithm>
#include <climits>
#include <complex>
#include <cstddef>
#include <vector>

#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/complex_number.h"

namespace terra::cpu::lapack {

/// The routines of scalar type T, as Fortran passes arguments: by address, the lengths of texts behind all others.
template <class T>
struct Routines;

extern "C" {
#define TERRA_EIGENVALUES(p, T)                                                                               \
  void p##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* re, T* im, T* vl, \
                const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, int* info, size_t, size_t);
#define TERRA_COMPLEX_EIGENVALUES(p, T, R)                                                                             \
  void p##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* w, T* vl, const int* ldvl, \
                T* vr, const int* ldvr, T* work, const int* lwork, R* rwork, int* info, size_t, size_t);               \
  void p##hetrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work, const int* lwork,         \
                 int* info, size_t);                                                                                   \
  void p##hetrs_(const char* uplo, const int* n, const int* k, const T* a, const int* lda, const int* pivots, T* b,    \
                 const int* ldb, int* info, size_t);
TERRA_EIGENVALUES(s, float)
TERRA_EIGENVALUES(d, double)
TERRA_COMPLEX_EIGENVALUES(c, std::complex<float>, float)
TERRA_COMPLEX_EIGENVALUES(z, std::complex<double>, double)
#undef TERRA_COMPLEX_EIGENVALUES
#undef TERRA_EIGENVALUES
}

// Routines of complex numbers want real numbers to work in, behind their other room; their names say unitary for
// orthogonal and Hermitian for symmetric.
#define TERRA_NO_ROOM(R)
#define TERRA_REAL_ROOM(R) R *rwork,
#define TERRA_COUNTED_ROOM(R) R *rwork, const int *lrwork,
#define TERRA_LAPACK(p, T, R, org, sy, ROOM, COUNTED)                                                                  \
  extern "C" {                                                                                                         \
  void p##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);                            \
  void p##getrs_(const char* trans, const int* n, const int* k, const T* a, const int* lda, const int* pivots, T* b,   \
                 const int* ldb, int* info, size_t);                                                                   \
  void p##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                             \
  void p##potri_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                             \
  void p##potrs_(const char* uplo, const int* n, const int* k, const T* a, const int* lda, T* b, const int* ldb,       \
                 int* info, size_t);                                                                                   \
  void p##sytrf_(const char* uplo, const int* n, T* a, const int* lda, int* pivots, T* work, const int* lwork,         \
                 int* info, size_t);                                                                                   \
  void p##sytrs_(const char* uplo, const int* n, const int* k, const T* a, const int* lda, const int* pivots, T* b,    \
                 const int* ldb, int* info, size_t);                                                                   \
  void p##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);      \
  void p##org##qr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,              \
                   const int* lwork, int* info);                                                                       \
  void p##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu, T* vt, \
                 const int* ldvt, T* work, const int* lwork, ROOM(R) int* iwork, int* info, size_t);                   \
  void p##sy##evd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,               \
                   const int* lwork, COUNTED(R) int* iwork, const int* liwork, int* info, size_t, size_t);             \
  void p##gels_(const char* trans, const int* m, const int* n, const int* k, T* a, const int* lda, T* b,               \
                const int* ldb, T* work, const int* lwork, int* info, size_t);                                         \
  void p##gelsy_(const int* m, const int* n, const int* k, T* a, const int* lda, T* b, const int* ldb, int* columns,   \
                 const R* rcond, int* rank, T* work, const int* lwork, ROOM(R) int* info);                             \
  void p##gelss_(const int* m, const int* n, const int* k, T* a, const int* lda, T* b, const int* ldb, R* s,           \
                 const R* rcond, int* rank, T* work, const int* lwork, ROOM(R) int* info);                             \
  void p##gelsd_(const int* m, const int* n, const int* k, T* a, const int* lda, T* b, const int* ldb, R* s,           \
                 const R* rcond, int* rank, T* work, const int* lwork, ROOM(R) int* iwork, int* info);                 \
  void p##trsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,   \
                const T* alpha, const T* a, const int* lda, T* b, const int* ldb, size_t, size_t, size_t, size_t);     \
  void p##gemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const T* alpha,      \
                const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c, const int* ldc, size_t,   \
                size_t);                                                                                               \
  }                                                                                                                    \
  template <>                                                                                                          \
  struct Routines<T> {                                                                                                 \
    static constexpr auto getrf = p##getrf_;                                                                           \
    static constexpr auto getrs = p##getrs_;                                                                           \
    static constexpr auto potrf = p##potrf_;                                                                           \
    static constexpr auto potri = p##potri_;                                                                           \
    static constexpr auto potrs = p##potrs_;                                                                           \
    static constexpr auto sytrf = p##sytrf_;                                                                           \
    static constexpr auto sytrs = p##sytrs_;                                                                           \
    static constexpr auto hetrf = p##sy##trf_;                                                                         \
    static constexpr auto hetrs = p##sy##trs_;                                                                         \
    static constexpr auto geqrf = p##geqrf_;                                                                           \
    static constexpr auto orgqr = p##org##qr_;                                                                         \
    static constexpr auto gesdd = p##gesdd_;                                                                           \
    static constexpr auto syevd = p##sy##evd_;                                                                         \
    static constexpr auto geev = p##geev_;                                                                             \
    static constexpr auto gels = p##gels_;                                                                             \
    static constexpr auto gelsy = p##gelsy_;                                                                           \
    static constexpr auto gelss = p##gelss_;                                                                           \
    static constexpr auto gelsd = p##gelsd_;                                                                           \
    static constexpr auto trsm = p##trsm_;                                                                             \
    static constexpr auto gemm = p##gemm_;                                                                             \
  };

TERRA_LAPACK(s, float, float, org, sy, TERRA_NO_ROOM, TERRA_NO_ROOM)
TERRA_LAPACK(d, double, double, org, sy, TERRA_NO_ROOM, TERRA_NO_ROOM)
TERRA_LAPACK(c, std::complex<float>, float, ung, he, TERRA_REAL_ROOM, TERRA_COUNTED_ROOM)
TERRA_LAPACK(z, std::complex<double>, double, ung, he, TERRA_REAL_ROOM, TERRA_COUNTED_ROOM)
#undef TERRA_COUNTED_ROOM
#undef TERRA_REAL_ROOM
#undef TERRA_NO_ROOM
#undef TERRA_LAPACK

/// Calls routine(work, lwork) twice: to be told how long `work` should be, and with that.
template <class T, class Routine>
void with_work(const Routine& routine) {
  T told = 0;
  routine(&told, -1);
  constexpr double kRoundedDown = 1 + 1e-6;  // by a float that holds the length
  const double wanted = static_cast<double>(std::real(told)) * kRoundedDown + 1;
  if (!(wanted >= 1 && wanted <= INT_MAX))  // more than LAPACK's integers count
    throw KernelError(KernelError::Kind::Runtime, "a matrix of this size needs more work space than LAPACK can use");
  std::vector<T> work(static_cast<size_t>(wanted));
  routine(work.data(), static_cast<int>(work.size()));
}

/// A = P L U of m x n.
template <class T>
int getrf(int m, int n, T* a, int* pivots) {
  int info = 0;
  Routines<T>::getrf(&m, &n, a, &m, pivots, &info);
  return info;
}

/// B becomes A^-1 B, from A = P L U.
template <class T>
int getrs(int n, int k, const T* a, const int* pivots, T* b) {
  int info = 0;
  Routines<T>::getrs("N", &n, &k, a, &n, pivots, b, &n, &info, 1);
  return info;
}

/// A = L L^T: the lower triangle of A is read and written.
template <class T>
int potrf(int n, T* a) {
  int info = 0;
  Routines<T>::potrf("L", &n, a, &n, &info, 1);
  return info;
}

/// The lower triangle of (L L^T)^-1 in place of L.
template <class T>
int potri(int n, T* a) {
  int info = 0;
  Routines<T>::potri("L", &n, a, &n, &info, 1);
  return info;
}

/// B becomes (L L^T)^-1 B.
template <class T>
int potrs(int n, int k, const T* l, T* b) {
  int info = 0;
  Routines<T>::potrs("L", &n, &k, l, &n, b, &n, &info, 1);
  return info;
}

/// A = L D L^T, or L D L^H of a Hermitian A, with blocks of one or two rows in D: the lower triangle of A is read and
/// written.
template <class T>
int sytrf(bool hermitian, int n, T* a, int* pivots) {
  int info = 0;
  const auto routine = hermitian ? Routines<T>::hetrf : Routines<T>::sytrf;
  with_work<T>([&](T* work, int lwork) { routine("L", &n, a, &n, pivots, work, &lwork, &info, 1); });
  return info;
}

/// B becomes A^-1 B, from what sytrf made.
template <class T>
int sytrs(bool hermitian, int n, int k, const T* a, const int* pivots, T* b) {
  int info = 0;
  const auto routine = hermitian ? Routines<T>::hetrs : Routines<T>::sytrs;
  routine("L", &n, &k, a, &n, pivots, b, &n, &info, 1);
  return info;
}

/// A = Q R of m x n: R on and above the diagonal, Q as reflections below it and their factors in tau.
template <class T>
int geqrf(int m, int n, T* a, T* tau) {
  int info = 0;
  with_work<T>([&](T* work, int lwork) { Routines<T>::geqrf(&m, &n, a, &m, tau, work, &lwork, &info); });
  return info;
}

/// The first n columns of the product of k reflections, in their place.
template <class T>
int orgqr(int m, int n, int k, T* a, const T* tau) {
  int info = 0;
  with_work<T>([&](T* work, int lwork) { Routines<T>::orgqr(&m, &n, &k, a, &m, tau, work, &lwork, &info); });
  return info;
}

/// A = U diag(s) V^H. job: 'A' for all of U and V, 'S' for as many columns as s has numbers, 'N' for s alone. A is
/// lost.
template <class T>
int gesdd(char job, int m, int n, T* a, Real<T>* s, T* u, T* vt) {
  int info = 0;
  const int ldvt = job == 'S' ? std::min(m, n) : n;
  const size_t k = static_cast<size_t>(std::min(m, n)), longer = static_cast<size_t>(std::max(m, n));
  std::vector<int> iwork(8 * k);
  std::vector<Real<T>> rwork(!kIsComplex<T> ? 0 : job == 'N' ? 7 * k : 2 * k * (std::max(longer, 2 * k) + k + 4));
  with_work<T>([&](T* work, int lwork) {
    const auto call = [&](auto... room) {
      Routines<T>::gesdd(&job, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &lwork, room..., iwork.data(), &info, 1);
    };
    if constexpr (kIsComplex<T>)
      call(rwork.data());
    else
      call();
  });
  return info;
}

/// The eigenvalues of a Hermitian A, of which one triangle is read, in ascending order; with job 'V' (not 'N') the
/// vectors in place of A, which is lost otherwise.
template <class T>
int syevd(char job, char uplo, int n, T* a, Real<T>* w) {
  int info = 0;
  const size_t size = static_cast<size_t>(n);
  std::vector<int> iwork(3 + 5 * size);
  std::vector<Real<T>> rwork(!kIsComplex<T> ? 0 : job == 'N' ? size : 1 + 5 * size + 2 * size * size);
  const int liwork = static_cast<int>(iwork.size()), lrwork = static_cast<int>(std::min<size_t>(rwork.size(), INT_MAX));
  with_work<T>([&](T* work, int lwork) {
    const auto call = [&](auto... room) {
      Routines<T>::syevd(&job, &uplo, &n, a, &n, w, work, &lwork, room..., iwork.data(), &liwork, &info, 1, 1);
    };
    if constexpr (kIsComplex<T>)
      call(rwork.data(), &lrwork);
    else
      call();
  });
  return info;
}

/// The eigenvalues of any square A, which is lost, and in the columns of v, if it isn't null, its vectors. Those of a
/// real A come as LAPACK gives them: real and imaginary parts of w apart, behind each other, and in v the parts of two
/// conjugate vectors in two columns.
template <class T>
int geev(int n, T* a, T* w, T* v) {
  int info = 0;
  const char wanted = v ? 'V' : 'N';
  T unused = 0;
  T* right = v ? v : &unused;
  std::vector<Real<T>> rwork(kIsComplex<T> ? 2 * static_cast<size_t>(n) : 0);
  with_work<T>([&](T* work, int lwork) {
    const int one = 1;
    if constexpr (kIsComplex<T>)
      Routines<T>::geev("N", &wanted, &n, a, &n, w, &unused, &one, right, &n, work, &lwork, rwork.data(), &info, 1, 1);
    else
      Routines<T>::geev("N", &wanted, &n, a, &n, w, w + n, &unused, &one, right, &n, work, &lwork, &info, 1, 1);
  });
  return info;
}

/// Least squares: B, of max(m, n) rows, becomes the X of n rows with the smallest |A X - B|, and A is lost.
template <class T>
struct LeastSquares {
  int m, n, k;
  T* a;
  T* b;
  Real<T> rcond;
  int rank = 0;
  Real<T>* s = nullptr;  ///< singular values of A, where they are found

  /// A has full rank.
  int gels() {
    return run([&](T* work, int lwork, int& info) {
      Routines<T>::gels("N", &m, &n, &k, a, &m, b, &ldb(), work, &lwork, &info, 1);
    });
  }
  /// By a complete orthogonal factorization.
  int gelsy() {
    std::vector<int> columns(static_cast<size_t>(n));
    return run_in(2 * static_cast<size_t>(n), [&](T* work, int lwork, int& info, auto... room) {
      Routines<T>::gelsy(&m, &n, &k, a, &m, b, &ldb(), columns.data(), &rcond, &rank, work, &lwork, room..., &info);
    });
  }
  /// By singular values.
  int gelss() {
    return run_in(5 * smaller(), [&](T* work, int lwork, int& info, auto... room) {
      Routines<T>::gelss(&m, &n, &k, a, &m, b, &ldb(), s, &rcond, &rank, work, &lwork, room..., &info);
    });
  }
  /// By singular values, found by dividing and conquering: what is small enough is not divided further.
  int gelsd() {
    constexpr size_t kSmall = 25, kLevels = 32;
    const size_t sides = static_cast<size_t>(k);
    std::vector<int> iwork(128 * smaller() + 32);
    const size_t room = smaller() * (10 + 2 * kSmall + 8 * kLevels + 1 + sides) + 3 * kSmall * sides +
                        (kSmall + 1) * (kSmall + 1) + 2 * sides;
    return run_in(room, [&](T* work, int lwork, int& info, auto... room) {
      Routines<T>::gelsd(&m, &n, &k, a, &m, b, &ldb(), s, &rcond, &rank, work, &lwork, room..., iwork.data(), &info);
    });
  }

 private:
  const int& ldb() const { return m > n ? m : n; }
  size_t smaller() const { return static_cast<size_t>(std::min(m, n)); }
  template <class Routine>
  static int run(const Routine& routine) {
    int info = 0;
    with_work<T>([&](T* work, int lwork) { routine(work, lwork, info); });
    return info;
  }
  /// With room for that many real numbers where T is complex.
  template <class Routine>
  static int run_in(size_t room, const Routine& routine) {
    if constexpr (kIsComplex<T>) {
      std::vector<Real<T>> rwork(room);
      return run([&](T* work, int lwork, int& info) { routine(work, lwork, info, rwork.data()); });
    } else {
      return run(routine);
    }
  }
};

/// B of m x n becomes A^-1 B (side 'L') or B A^-1 ('R') for a triangular A. uplo: 'L' or 'U'; diag: 'U' for ones on the
/// diagonal, else 'N'.
template <class T>
void trsm(char side, char uplo, char diag, int m, int n, const T* a, T* b) {
  const T one = 1;
  Routines<T>::trsm(&side, &uplo, "N", &diag, &m, &n, &one, a, side == 'L' ? &m : &n, b, &m, 1, 1, 1, 1);
}

/// A factor of a product: as it lies ('N'), transposed ('T') or its conjugate transposed ('C').
template <class T>
struct Factor {
  const T* data;
  int rows;  ///< as it lies
  char turn = 'N';
};

/// C = alpha A B + beta C of m x n, over k.
template <class T>
void gemm(int m, int n, int k, T alpha, Factor<T> a, Factor<T> b, T beta, T* c) {
  Routines<T>::gemm(&a.turn, &b.turn, &m, &n, &k, &alpha, a.data, &a.rows, b.data, &b.rows, &beta, c, &m, 1, 1);
}

}  // namespace terra::cpu::lapack
